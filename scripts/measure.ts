/**
 * `npm run measure`: prints code metrics to compare before and after a change. Structure is measured in `src` without
 * its tests, language in every area including tests. Uses TypeScript's own parser.
 */
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import packageManifest from '../package.json' with { type: 'json' }
import {
  allowedNames,
  type CodeFile,
  forbiddenOpening,
  forbiddenParts,
  forbiddenPhrase,
  readCodeFiles,
  readComments,
  splitName,
  visitNodes,
} from './codeLanguage.ts'
import { findTiedSlices } from './tiedSlices.ts'

const languageAreas = [
  'src/main/service',
  'src/main/agent',
  'src/main/host',
  'src/main/platform',
  'src/shared',
  'src/renderer',
  'test',
  'scripts',
]

/** Folders that have one file per migration, model family or tool group, regardless of its length. */
const oneConcernFolders = /\/(storage\/migrations|inference\/families|contract\/tools)\//

const importMap: Readonly<Record<string, string>> = packageManifest.imports

const files = readCodeFiles(['src']).filter(({ path }) => !/\.test\.tsx?$/.test(path))

const counts: [name: string, count: number | string][] = [
  ['files', files.length],
  ['lines', sum(files.map(({ lines }) => lines))],
  ...functionCounts(),
  ...importCounts(),
  ['exports documented, contract', measureDocumentation((path) => path.startsWith('src/shared/contract/'))],
  ['exports documented, rest', measureDocumentation((path) => !path.startsWith('src/shared/contract/'))],
]
const width = Math.max(...counts.map(([name]) => name.length))
for (const [name, count] of counts) process.stdout.write(`${name.padEnd(width)}  ${count}\n`)
process.stdout.write(
  '\nLanguage: comments; forbidden openings; phrases in 1,000 words of comments; parts of identifiers in 1,000\n',
)
for (const area of languageAreas) {
  const { comments, openings, phrases, parts } = measureLanguage(readCodeFiles([area]))
  process.stdout.write(`${area.padEnd(width)}  ${comments}  ${openings}  ${phrases}  ${parts}\n`)
}

function functionCounts(): [string, number][] {
  const lengths: number[] = []
  for (const { source } of files) {
    visitNodes(source, (node) => {
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
  let deep = 0
  for (const { path, source } of files) {
    for (const statement of source.statements) {
      if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue
      const specifier = statement.moduleSpecifier.text
      if (specifier.startsWith('../../../../')) deep += 1
      const target = resolveSpecifier(path, specifier)
      if (target === undefined) continue
      importers.set(target, (importers.get(target) ?? new Set()).add(path))
    }
  }
  const single = files.filter(({ path }) => importers.get(path)?.size === 1)
  const small = single.filter(
    ({ path, lines }) =>
      lines < 40 && !oneConcernFolders.test(path) && [...(importers.get(path) ?? [])].every(isBeside(path)),
  )
  return [
    ['imports with four or more ../', deep],
    ['slices tied both ways', findTiedSlices(files).length],
    ['files with one importer', single.length],
    ['of them under 40 lines, importer in the same folder', small.length],
  ]
}

/** Resolves a relative specifier or an entry of the import map. @returns the path, or undefined for a package */
function resolveSpecifier(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(path), specifier))
  const alias = Object.entries(importMap).find(([pattern]) => specifier.startsWith(pattern.slice(0, -1)))
  return alias && normalize(specifier.replace(alias[0].slice(0, -1), alias[1].slice(0, -1)))
}

function isBeside(path: string): (sibling: string) => boolean {
  return (sibling) => dirname(sibling) === dirname(path)
}

function measureLanguage(area: readonly CodeFile[]): Record<'comments' | 'openings' | 'phrases' | 'parts', string> {
  const texts = area.flatMap(({ source }) => readComments(source).map(({ text }) => text))
  const openings = texts.filter((text) => forbiddenOpening.test(text)).length
  const wordCount = sum(texts.map((text) => text.split(/\s+/).length))
  const phrases = sum(texts.map((text) => text.match(forbiddenPhrase)?.length ?? 0))
  let parts = 0
  let forbidden = 0
  for (const { source } of area) {
    visitNodes(source, (node) => {
      if (!ts.isIdentifier(node)) return
      const split = splitName(node.text)
      parts += split.length
      if (!Object.hasOwn(allowedNames, node.text)) forbidden += split.filter((part) => forbiddenParts.has(part)).length
    })
  }
  return {
    comments: `${texts.length}`,
    openings: formatPercent(openings, texts.length),
    phrases: formatPerThousand(phrases, wordCount),
    parts: formatPerThousand(forbidden, parts),
  }
}

/**
 * Returns the share of exported names that have documentation. A schema and its inferred type count as one name,
 * because editors show the comment of either. Routes are documented by their `summary`.
 */
function measureDocumentation(isChosen: (path: string) => boolean): string {
  const documented = new Map<string, boolean>()
  for (const { path, source } of files) {
    if (!isChosen(path)) continue
    for (const statement of source.statements) {
      if (!ts.canHaveModifiers(statement)) continue
      if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) continue
      const key = `${path} ${readExportedName(statement)}`
      documented.set(key, documented.get(key) || isDocumented(statement))
    }
  }
  return formatPercent([...documented.values()].filter(Boolean).length, documented.size)
}

function readExportedName(statement: ts.Statement): string {
  const declaration = ts.isVariableStatement(statement) ? statement.declarationList.declarations[0] : statement
  return (declaration as ts.NamedDeclaration | undefined)?.name?.getText() ?? ''
}

function isDocumented(statement: ts.Statement): boolean {
  return (
    ts.getJSDocCommentsAndTags(statement).length > 0 || /= defineRoute\(\{[\s\S]*?\bsummary:/.test(statement.getText())
  )
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function formatPercent(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`
}

function formatPerThousand(part: number, whole: number): string {
  return ((1000 * part) / Math.max(1, whole)).toFixed(1)
}
