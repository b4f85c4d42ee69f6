/**
 * `npm run measure`: counts of the product's code, for comparison before and after a change. Reads `src` without its
 * tests, with TypeScript's own parser. Numbers are a compass, not a limit.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'

type SourceFile = { path: string; lines: number; source: ts.SourceFile }

const dialectOpening =
  /^\s*(What|Of|Where|It|Its|One (that|of|which)|Those|Who|Whoever|Nobody|Nothing|Something|Without|So (many|much)|As it|Undefined|Which|How)\b/
const dialectParts = new Set(
  'given asked told kept wanted taken held gone most usual longest found words note known shown made'.split(' '),
)

const files: SourceFile[] = execFileSync('git', ['ls-files', 'src'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
  .map((path) => {
    const text = readFileSync(path, 'utf8')
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
    return { path, lines: text.split('\n').length - 1, source }
  })

const counts: [name: string, count: number | string][] = [
  ['files', files.length],
  ['lines', sum(files.map(({ lines }) => lines))],
  ...functionCounts(),
  ...importCounts(),
  ...commentCounts(),
  ...identifierCounts(),
  ['exports documented, contract', documentedShare((path) => path.startsWith('src/shared/contract/'))],
  ['exports documented, rest', documentedShare((path) => !path.startsWith('src/shared/contract/'))],
]
const width = Math.max(...counts.map(([name]) => name.length))
for (const [name, count] of counts) process.stdout.write(`${name.padEnd(width)}  ${count}\n`)

function functionCounts(): [string, number][] {
  const lengths: number[] = []
  for (const { source } of files) {
    visit(source, (node) => {
      if (!ts.isFunctionLike(node) || !('body' in node) || !node.body) return
      const start = source.getLineAndCharacterOfPosition(node.getStart()).line
      lengths.push(source.getLineAndCharacterOfPosition(node.end).line - start + 1)
    })
  }
  const over = (limit: number) => lengths.filter((length) => length > limit).length
  return [
    ['functions', lengths.length],
    ['functions over 60 lines', over(60)],
    ['functions over 100 lines', over(100)],
    ['functions over 180 lines', over(180)],
  ]
}

function importCounts(): [string, number][] {
  const importers = new Map<string, Set<string>>()
  const arrows = new Set<string>()
  let deep = 0
  for (const { path, source } of files) {
    for (const statement of source.statements) {
      if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue
      const specifier = statement.moduleSpecifier.text
      if (specifier.startsWith('../../../../')) deep += 1
      if (!specifier.startsWith('.')) continue
      const target = normalize(join(dirname(path), specifier))
      importers.set(target, (importers.get(target) ?? new Set()).add(path))
      if (dirname(path) !== dirname(target)) arrows.add(`${dirname(path)} ${dirname(target)}`)
    }
  }
  const tied = [...arrows].filter((arrow) => arrows.has(arrow.split(' ').reverse().join(' '))).length / 2
  const single = files.filter(({ path }) => importers.get(path)?.size === 1)
  const small = single.filter(({ path, lines }) => lines < 40 && [...(importers.get(path) ?? [])].every(isBeside(path)))
  return [
    ['imports with four or more ../', deep],
    ['folder pairs tied both ways', tied],
    ['files with one importer', single.length],
    ['of them under 40 lines, importer in the same folder', small.length],
  ]
}

function isBeside(path: string): (other: string) => boolean {
  return (other) => dirname(other) === dirname(path)
}

function commentCounts(): [string, number | string][] {
  const comments = files.flatMap(({ source }) => commentsOf(source))
  const dialect = comments.filter((text) => dialectOpening.test(text)).length
  return [
    ['comments', comments.length],
    ['comments that open in the old dialect', `${dialect} (${percent(dialect, comments.length)})`],
  ]
}

function identifierCounts(): [string, string][] {
  let parts = 0
  let dialect = 0
  for (const { source } of files) {
    visit(source, (node) => {
      if (!ts.isIdentifier(node)) return
      for (const part of node.text.split(/(?=[A-Z])|_/)) {
        parts += 1
        if (dialectParts.has(part.toLowerCase())) dialect += 1
      }
    })
  }
  return [['parts of identifiers in the old dialect, in 1,000', ((dialect / parts) * 1000).toFixed(1)]]
}

function documentedShare(isChosen: (path: string) => boolean): string {
  let exported = 0
  let documented = 0
  for (const { path, source } of files) {
    if (!isChosen(path)) continue
    for (const statement of source.statements) {
      if (!ts.canHaveModifiers(statement)) continue
      if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) continue
      exported += 1
      if (ts.getJSDocCommentsAndTags(statement).length > 0) documented += 1
    }
  }
  return percent(documented, exported)
}

/** Texts of comments, without their marks. */
function commentsOf(source: ts.SourceFile): string[] {
  const found = new Map<number, string>()
  const text = source.text
  const add = (ranges: readonly ts.CommentRange[] = []): void => {
    for (const { pos, end } of ranges) found.set(pos, text.slice(pos, end).replace(/^(\/\*\*?|\/\/)\s*(\*\s)?/, ''))
  }
  visit(source, (node) => {
    add(ts.getLeadingCommentRanges(text, node.pos))
    add(ts.getTrailingCommentRanges(text, node.end))
  })
  return [...found.values()]
}

function visit(node: ts.Node, handle: (node: ts.Node) => void): void {
  handle(node)
  node.forEachChild((child) => visit(child, handle))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`
}
