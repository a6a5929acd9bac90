/* Tests that no import leads to. */

export type Table = readonly (readonly [of: RegExp, tests: RegExp])[]
/** Tests that run the text of a program, or its build, by what the program is made of. */
export const programs: Table = [
  [/^packages\/(agent|server|contract|client)\//, /^tests\/(engine|e2e|attacks|fleet|siem|browser)\//],
  [/^packages\/dashboard\//, /^tests\/browser\/|^tests\/e2e\/demo\./],
  [/^packages\/cli\//, /^tests\/e2e\/|^packages\/server\/test\/(guides|processes|clients\/)/],
  [/^packages\/(server|contract|client)\//, /^packages\/(cli|server)\//],
]
/** Tests of programs whose names don't say what they cover. */
export const near: Table = [
  [/^packages\/agent\/src\/(bans|python)\//, /^tests\/engine\/(bans|adopted|outages)\./],
  [/^packages\/agent\/src\/(shield|netlink)\//, /^tests\/engine\/shield[.-]/],
  [/^packages\/agent\/src\/(protection|self-test)\//, /^tests\/engine\/(self-test|broken-hosts|at-rest)\./],
  [/^packages\/agent\/src\/(policy|seal|commands)\//, /^tests\/(engine\/commands|attacks\/(m9|sealed))/],
  [/^packages\/agent\/src\/(outbox|loops|upgrade|clock)/, /^tests\/(engine\/(outages|clock)|e2e\/first-ban)\./],
  [/^packages\/dashboard\/src\/(kit|lib)\//, /^tests\/browser\/(bans|settings|drafts|receipts|keyboard)\./],
  [/^packages\/dashboard\/src\/features\/fleet\/undo/, /^tests\/browser\/bans\./],
  [/^packages\/dashboard\/src\/api\//, /^tests\/browser\/(life|shell|guard|single-failures)\./],
]
