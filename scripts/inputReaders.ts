/**
 * `node scripts/inputReaders.ts`: fails if product code of the main processes reads input without a limit. Code must
 * use the readers in `src/main/platform`, which accept `maxBytes` and `maxDepth`.
 */
import { globSync, readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import ts from 'typescript'

const bounded = 'src/main/platform/**'

/** Files that may read input directly, with the reason why each is bounded. */
const allowed: Readonly<Record<string, string>> = {
  'src/main/**/*Repository.ts': 'rows of our own database, bounded when they were written',
  'src/main/config/config.ts': 'the configuration file of the operator',
  'src/main/agent/securePrompts/securePromptForm.ts':
    'at most 128 KB; the rest is read and dropped, since browsers send all of a form',
  'src/main/agent/domains/propagation/dnsClient.ts': 'one DNS message over TCP, which has 65,535 bytes, and a deadline',
  'src/main/service/domains/registrars/local/dns/dnsServer.ts':
    'one DNS message over TCP, which has 65,535 bytes, and an idle timeout',
  'src/main/agent/tools/mcpExchange.ts': 'answers of our own server of tools, in this process',
  'src/main/service/inference/providers/providerReply.ts': 'an answer of a provider, up to `maxJsonResponseBytes`',
  'src/main/service/inference/catalogue/modelCatalogue.ts': 'the catalogue that ships with Steward',
  'src/main/host/runtimes/bubblewrap/spawner.ts': 'lines of our own helper processes, up to `maxLineLength`',
  'src/main/host/runtimes/docker/imageArchive.ts': 'the first bytes of an archive, up to `headerBytes`',
}

const unbounded = new Set(['json', 'text', 'arrayBuffer', 'formData', 'blob', 'toArray'])

const used = new Set<string>()
let failures = 0
for (const path of globSync('src/main/**/*.ts')) {
  if (path.endsWith('.test.ts') || matchesGlob(path, bounded)) continue
  const problems = findProblems(path)
  const entry = problems.length > 0 ? Object.keys(allowed).find((pattern) => matchesGlob(path, pattern)) : undefined
  if (entry !== undefined) used.add(entry)
  else for (const { line, problem } of problems) complain(`${path}:${line} ${problem}`)
}
for (const entry of Object.keys(allowed))
  if (!used.has(entry)) complain(`${entry} no longer reads input. Remove the entry.`)
process.exitCode = failures === 0 ? 0 : 1

function complain(text: string): void {
  failures += 1
  process.stdout.write(`${text}\n`)
}

function findProblems(path: string): { line: number; problem: string }[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  const problems: { line: number; problem: string }[] = []
  const visit = (node: ts.Node): void => {
    const problem = findProblem(node)
    if (problem) problems.push({ line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1, problem })
    ts.forEachChild(node, visit)
  }
  visit(source)
  return problems
}

function findProblem(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    const isConsumers = node.moduleSpecifier?.getText().includes('stream/consumers')
    return isConsumers ? 'collects a stream. Use `readBytes`.' : undefined
  }
  if (ts.isForOfStatement(node) && node.awaitModifier && ts.isVariableDeclarationList(node.initializer)) {
    const names = node.initializer.declarations.map(({ name }) => name.getText())
    return collects(node.statement, names) ? 'collects a stream. Use `readBytes`.' : undefined
  }
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined
  const { expression, name } = node.expression
  if (expression.getText() === 'JSON' && name.text === 'parse') return 'parses JSON. Use `parseJson`.'
  if (unbounded.has(name.text) && node.arguments.length === 0) return `calls \`${name.text}()\`. Use \`readBytes\`.`
  const [event, listener] = node.arguments
  if (!listener || !ts.isArrowFunction(listener) || !event || !ts.isStringLiteral(event) || event.text !== 'data') {
    return undefined
  }
  const names = listener.parameters.map((parameter) => parameter.name.getText())
  return collects(listener.body, names) ? 'collects a stream. Use `readBytes`.' : undefined
}

/** Whether one of the names is appended to a list, string or buffer. */
function collects(node: ts.Node, names: readonly string[]): boolean {
  const isOne = (value: ts.Node | undefined): boolean => value !== undefined && names.includes(value.getText())
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusEqualsToken && isOne(node.right)) {
    return true
  }
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { text } = node.expression.name
    if (text === 'push' && node.arguments.some(isOne)) return true
    if (
      text === 'concat' &&
      node.arguments.some((list) => ts.isArrayLiteralExpression(list) && list.elements.some(isOne))
    ) {
      return true
    }
  }
  return ts.forEachChild(node, (child) => collects(child, names) || undefined) ?? false
}
