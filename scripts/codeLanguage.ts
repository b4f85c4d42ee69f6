/**
 * Reads comments and names in TypeScript files and finds those that `npm run check` rejects (CONTRIBUTING, "Language").
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import ts from 'typescript'

export type CodeFile = { path: string; lines: number; source: ts.SourceFile }
export type Violation = { path: string; line: number; rule: LanguageRule; text: string }
export type LanguageRule =
  | 'comment-opening'
  | 'comment-phrase'
  | 'identifier-part'
  | 'limit-prefix'
  | 'participle-export'

/** Openings that comments must not use. Comments start with a verb, a noun or "Whether". */
export const forbiddenOpening =
  /^(What|Of|Where|It|Its|One (that|of|which)|Those|Who|Whoever|Nobody|Nothing|Somebody|Something|Without|So (many|much)|As it|Undefined|Which|How)\b/

/** Phrases that make comments hard to read. */
export const forbiddenPhrase =
  /\b(where it is|of it|what it (was|is)|told|kept|nobody|somebody|whoever|anew|by itself|of its own|one that|meanwhile|goes on|at hand|comes? to nothing)\b/gi

/** Words that do not describe a value. A participle may qualify a noun (`storedRow`), but these replace it. */
export const forbiddenParts: ReadonlySet<string> = new Set(
  'given asked told kept wanted taken held gone most usual longest found words note known shown made'.split(' '),
)

/** Exceptions to `forbiddenParts` with their reasons, by full declared name. */
export const allowedNames: Readonly<Record<string, string>> = {
  asked: 'state and column of intents and orders, on the wire',
  asked_at: 'field on the wire',
  asked_at_ms: 'column',
  asked_once: 'table',
  asNote: 'field on the wire',
  found_sandboxes: 'field on the wire',
  FoundSandbox: 'as FoundSandboxes',
  FoundSandboxes: 'sandboxes with files but no row, as on the wire',
  listFoundSandboxes: 'as FoundSandboxes',
  adoptFoundSandbox: 'as FoundSandboxes',
  deleteFoundSandbox: 'as FoundSandboxes',
  composeFoundSandboxes: 'as FoundSandboxes',
  createFoundSandboxes: 'as FoundSandboxes',
  createFoundSandboxRoutes: 'as FoundSandboxes',
  createFoundSandboxRepository: 'as FoundSandboxes',
  FoundSandboxRepository: 'as FoundSandboxes',
  foundSandboxes: 'as FoundSandboxes',
  foundSandboxesKey: 'as FoundSandboxes',
  held_cents: 'field on the wire',
  isNotFound: 'the term of HTTP',
  kept_with: 'column',
  max_micro_usd: 'field on the wire',
  most_usd: 'field on the wire',
  note: 'field on the wire',
  NoteText: 'type of the field note on the wire',
  notFound: 'the term of HTTP',
  useFoundSandboxes: 'as FoundSandboxes',
  setNote: 'setter of a field on the wire',
  notified_at: 'column',
  notified_at_ms: 'column',
  words: 'the term of BIP-39',
  wordCount: 'the term of BIP-39',
}

const limitPrefix = /^(most|usual|least|fewest|need)[A-Z]/
const participle = /^[a-z]+(ed|ept|old|ound|aken|iven|ought)$/
/** First parts of function names that match the participle pattern but are verbs or nouns. */
const verbs = new Set('need feed seed speed embed proceed hold scaffold fold shed bold threshold unfold'.split(' '))

export function readCodeFiles(paths: readonly string[]): CodeFile[] {
  return execFileSync('git', ['ls-files', ...paths], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => /\.tsx?$/.test(path))
    .flatMap((path) => {
      const text = readIfPresent(path)
      return text === undefined ? [] : [parseCode(path, text)]
    })
}

export function parseCode(path: string, text: string): CodeFile {
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind)
  return { path, lines: text.split('\n').length - 1, source }
}

export function findViolations({ path, source }: CodeFile): Violation[] {
  const violations: Violation[] = []
  const add = (position: number, rule: LanguageRule, text: string): void => {
    violations.push({ path, line: source.getLineAndCharacterOfPosition(position).line + 1, rule, text })
  }
  for (const { text, position } of readComments(source)) {
    if (forbiddenOpening.test(text)) add(position, 'comment-opening', text.slice(0, 60))
    for (const phrase of text.match(forbiddenPhrase) ?? []) add(position, 'comment-phrase', phrase)
  }
  visitNodes(source, (node) => {
    if (!ts.isIdentifier(node) || !isDeclaredName(node) || Object.hasOwn(allowedNames, node.text)) return
    const position = node.getStart(source)
    if (limitPrefix.test(node.text)) add(position, 'limit-prefix', node.text)
    else if (splitName(node.text).some((part) => forbiddenParts.has(part))) add(position, 'identifier-part', node.text)
    if (isExportedFunction(node.parent) && !isComponentName(node.text) && startsWithParticiple(node.text)) {
      add(position, 'participle-export', node.text)
    }
  })
  return violations
}

export function readComments(source: ts.SourceFile): { text: string; position: number }[] {
  const comments = new Map<number, string>()
  const { text } = source
  const add = (ranges: readonly ts.CommentRange[] = []): void => {
    for (const { pos, end } of ranges) comments.set(pos, stripDelimiters(text.slice(pos, end)))
  }
  visitNodes(source, (node) => {
    if (ts.isJsxText(node)) return
    add(ts.getLeadingCommentRanges(text, node.pos))
    add(ts.getTrailingCommentRanges(text, node.end))
  })
  return [...comments].map(([position, comment]) => ({ position, text: comment }))
}

export function splitName(name: string): string[] {
  return name
    .split(/(?=[A-Z])|_/)
    .map((part) => part.toLowerCase())
    .filter((part) => part !== '')
}

export function visitNodes(node: ts.Node, handle: (node: ts.Node) => void): void {
  handle(node)
  node.forEachChild((child) => visitNodes(child, handle))
}

function stripDelimiters(comment: string): string {
  return comment
    .replace(/^(\/\*\*?|\/\/)\s*(\*\s)?/, '')
    .replace(/\s*\*\/$/, '')
    .trim()
}

function isDeclaredName(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isBindingElement(parent)) return parent.name === node
  if (ts.isImportSpecifier(parent) || ts.isImportClause(parent)) return false
  return (
    ts.isNamedTupleMember(parent) ||
    ((ts.isDeclarationStatement(parent) || isOtherDeclaration(parent)) && parent.name === node)
  )
}

function isOtherDeclaration(
  node: ts.Node,
): node is ts.VariableDeclaration | ts.ParameterDeclaration | ts.PropertySignature | ts.MethodSignature {
  return (
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isPropertySignature(node) ||
    ts.isMethodSignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isMethodDeclaration(node)
  )
}

function isExportedFunction(node: ts.Node): boolean {
  return ts.isFunctionDeclaration(node) && !!node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
}

/** Whether the name may be a React component, which is a noun: `StoppedBanner`. */
function isComponentName(name: string): boolean {
  return /^[A-Z]/.test(name)
}

function startsWithParticiple(name: string): boolean {
  const [first = ''] = splitName(name)
  return participle.test(first) && !verbs.has(first)
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined // deleted and not yet committed
  }
}
