import { statSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { cyclesOf } from '../tests/house/cycles.ts'
import { brokenRules, buildOrder, importsOf, upwardImports } from '../tests/house/direction.ts'
import { allSources, resolveImport, root } from '../tests/house/sources.ts'
import { takenByName, unusedExports } from '../tests/house/unused.ts'

/* `npm run figures`: the size and shape of the program code, package by package. Tests, translations and generated code are left out. */

const packages = ['contract', 'client', 'server', 'dashboard', 'agent', 'cli']
const isProgram = path =>
  /^packages\/[\w-]+\/src\/.*\.tsx?$/.test(path) &&
  !/\.test\.tsx?$|\/testing\/|\/texts\/|\.texts(\.\w+)?\.ts$|\.d\.ts$/.test(path)

const all = allSources()
const program = all.filter(({ path }) => isProgram(path))

/** Lines of each function, whole and without the functions inside it, and the casts of a file. */
const shapeOf = ({ path, text }) => {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const lineOf = position => file.getLineAndCharacterOfPosition(position).line
  const functions = []
  let casts = 0
  /** Returns the lines that functions take below this node. */
  const visit = node => {
    if (ts.isAsExpression(node) && node.type.getText(file) !== 'const') casts++
    let inner = 0
    ts.forEachChild(node, child => {
      inner += visit(child)
    })
    if (!ts.isFunctionLike(node) || !('body' in node) || !node.body) return inner
    const whole = lineOf(node.end) - lineOf(node.getStart(file)) + 1
    functions.push({ whole, own: whole - inner })
    return whole - 1
  }
  visit(file)
  return { functions, casts, lines: text.split('\n').length - 1 }
}

const sum = numbers => numbers.reduce((total, number) => total + number, 0)
/** The value below which this share of sorted numbers lies. */
const quantile = (numbers, share) => numbers[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? 0
const figuresOf = sources => {
  const shapes = sources.map(shapeOf)
  const lines = shapes.map(shape => shape.lines).sort((a, b) => a - b)
  const functions = shapes.flatMap(shape => shape.functions)
  return {
    files: sources.length,
    lines: sum(lines),
    'median / p90 / max lines a file': `${quantile(lines, 0.5)} / ${quantile(lines, 0.9)} / ${lines.at(-1) ?? 0}`,
    'functions over 60 own lines': functions.filter(({ own }) => own > 60).length,
    'over 200 with closures': functions.filter(({ whole }) => whole > 200).length,
    casts: sum(shapes.map(shape => shape.casts)),
  }
}

const tableOf = rows => {
  const [first] = rows
  const widths = Object.keys(first).map(key => Math.max(key.length, ...rows.map(row => String(row[key]).length)))
  const line = cells => `| ${cells.map((cell, index) => String(cell).padEnd(widths[index])).join(' | ')} |`
  return [
    line(Object.keys(first)),
    line(widths.map(width => '-'.repeat(width))),
    ...rows.map(row => line(Object.values(row))),
  ].join('\n')
}

const below = program.map(({ path, text }) => ({ path: path.slice('packages/'.length), text }))
const imports = importsOf(below)
const features = below.find(({ path }) => path === 'server/src/app/features.ts')?.text ?? ''
const upward = [...brokenRules(imports), ...upwardImports(imports, buildOrder(features))]
const cycles = cyclesOf(all.filter(({ path }) => /^packages\/[\w-]+\/src\//.test(path)))
const unused = unusedExports(all, path => isProgram(path) && !takenByName.test(path), resolveImport)

const table = tableOf([
  ...packages.map(name => ({
    package: name,
    ...figuresOf(program.filter(({ path }) => path.startsWith(`packages/${name}/`))),
  })),
  { package: 'all', ...figuresOf(program) },
])

/** Names that say what was done and not what the thing is (docs/STYLE.md, rule 8). */
const participles = new Set('found known told made said asked given kept held seen shown wanted taken named'.split(' '))
/** How many variables of a file have such a name. */
const participlesOf = ({ path, text }) => {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  let count = 0
  const visit = node => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && participles.has(node.name.text)) count++
    ts.forEachChild(node, visit)
  }
  visit(file)
  return count
}
/** Interfaces that one function of the same file makes: "go to definition" ends at them. */
const singlesOf = ({ text }) =>
  [...text.matchAll(/^export interface (\w+)/gm)].filter(([, name]) => text.includes(`const create${name} = `)).length
const isTest = path => /\.test\.tsx?$/.test(path)
const isSupport = path => /\/testing\/|^tests\//.test(path) && !isTest(path)
const isTranslation = path => /^packages\/dashboard\/src\/app\/texts\/\w+\//.test(path)
const linesOf = sources => sum(sources.map(({ text }) => text.split('\n').length - 1))
const short = program.filter(source => linesOf([source]) <= 40)
const percent = share => `${(100 * share).toFixed(0)} %`
const whole = tableOf([
  { figure: 'program lines without texts', now: linesOf(program), goal: 120_000 },
  { figure: 'source files', now: program.length, goal: 1100 },
  { figure: 'files of 40 lines or fewer', now: percent(short.length / program.length), goal: percent(0.15) },
  { figure: 'names that are bare participles', now: sum(program.map(participlesOf)), goal: 0 },
  {
    figure: 'TypeScript lines of translations',
    now: linesOf(all.filter(({ path }) => isTranslation(path))),
    goal: 0,
  },
  { figure: 'exported interfaces that one function makes', now: sum(program.map(singlesOf)), goal: 0 },
  { figure: 'lines of tests', now: linesOf(all.filter(({ path }) => isTest(path))), goal: 'fewer' },
  { figure: 'bytes of CHANGELOG.md', now: statSync(join(root, 'CHANGELOG.md')).size, goal: 12_000 },
  { figure: 'lines that support tests', now: linesOf(all.filter(({ path }) => isSupport(path))), goal: 'fewer' },
])
process.stdout.write(
  `${table}\n\n${whole}\n\nimport circles: ${cycles.length}\nimports up: ${upward.length}\nexports without a user: ${unused.length}\n`,
)
