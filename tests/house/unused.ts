import ts from 'typescript'

/** A module: its path from the root of the repository, and its text. */
export interface Source {
  readonly path: string
  readonly text: string
}
export interface UnusedExport {
  readonly path: string
  readonly name: string
}

/** Every name, where a whole module is taken: `import * as`, `export * from`, `import()`. */
const everything = '*'

interface Module {
  readonly exported: readonly string[]
  /** What it takes from other modules. */
  readonly taken: readonly { readonly from: string; readonly name: string }[]
}

const namesOf = (statement: ts.Statement): string[] => {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name)
        ? [name.text]
        : name.elements.flatMap(element =>
            ts.isBindingElement(element) && ts.isIdentifier(element.name) ? [element.name.text] : [],
          ),
    )
  const isNamed =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isEnumDeclaration(statement)
  return isNamed && statement.name ? [statement.name.text] : []
}
const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)

const importedNames = (clause: ts.ImportClause | undefined): string[] => {
  if (!clause) return []
  const own = clause.name ? ['default'] : []
  const { namedBindings: bindings } = clause
  if (!bindings) return own
  if (ts.isNamespaceImport(bindings)) return [everything]
  return [...own, ...bindings.elements.map(({ propertyName, name }) => (propertyName ?? name).text)]
}

const moduleOf = ({ path, text }: Source): Module => {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  const exported: string[] = []
  const taken: { from: string; name: string }[] = []
  const take = (specifier: ts.Node | undefined, names: readonly string[]) => {
    if (specifier && ts.isStringLiteral(specifier)) for (const name of names) taken.push({ from: specifier.text, name })
  }
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) take(statement.moduleSpecifier, importedNames(statement.importClause))
    else if (ts.isExportDeclaration(statement)) {
      const { exportClause: clause } = statement
      const names = clause && ts.isNamedExports(clause) ? clause.elements : null
      take(
        statement.moduleSpecifier,
        names?.map(({ propertyName, name }) => (propertyName ?? name).text) ?? [everything],
      )
      exported.push(...(names?.map(({ name }) => name.text) ?? []))
    } else if (isExported(statement)) exported.push(...namesOf(statement))
  }
  const visit = (node: ts.Node): void => {
    // Whole modules by `import()`, as a call or as a type, and threads by `new URL('./file.ts', import.meta.url)`.
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      take(node.arguments[0], [everything])
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) take(node.argument.literal, [everything])
    ts.forEachChild(node, visit)
  }
  if (text.includes('import(')) visit(file)
  return { exported, taken }
}

/** A type may be exported to name the shape of another export. */
const namesShape = (name: string, text: string): boolean =>
  /^[A-Z]/.test(name) && (text.match(new RegExp(`\\b${name}\\b`, 'g')) ?? []).length > 1

/** Files whose exports something else takes by name: the test runner, and the threads that load a procedure. */
export const takenByName = /\/testing\/[\w-]*setup\.ts$|\/retention\/[\w-]+\.sqlite\.ts$/

/** The exports of `checked` modules that no other module takes. `resolve` finds the path of an imported module; null for packages. */
export const unusedExports = (
  sources: readonly Source[],
  isChecked: (path: string) => boolean,
  resolve: (from: string, specifier: string) => string | null,
): UnusedExport[] => {
  const texts = new Map(sources.map(({ path, text }) => [path, text]))
  const modules = new Map(sources.map(source => [source.path, moduleOf(source)]))
  const used = new Map<string, Set<string>>()
  for (const [from, { taken }] of modules)
    for (const { from: specifier, name } of taken) {
      const path = resolve(from, specifier)
      if (path === null) continue
      const names = used.get(path) ?? new Set()
      used.set(path, names.add(name))
    }
  return [...modules].flatMap(([path, { exported }]) => {
    const names = used.get(path)
    if (!isChecked(path) || names?.has(everything)) return []
    return exported
      .filter(name => !names?.has(name) && !namesShape(name, texts.get(path) ?? ''))
      .map(name => ({ path, name }))
  })
}

/** The dependencies that no file of their package names. */
export const unusedDependencies = (dependencies: readonly string[], sources: readonly Source[]): string[] =>
  dependencies.filter(name => {
    const imported = new RegExp(`['"/\`]${name.replaceAll(/[/.]/g, '[/.]')}(?:['"/])`)
    return !sources.some(({ text }) => imported.test(text))
  })
