import { createHash } from 'node:crypto'
import { z } from 'zod'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { TimelineEntry } from '#shared/contract/timeline.ts'
import { genesisHash, toCanonicalJson } from './entryHash.ts'
import { cutKind } from './timelineCut.ts'

/** Entry as a line of an export. Unknown fields are rejected. */
const { problem: _, task, links, ...fields } = TimelineEntry.shape
const ExportedEntry = z.strictObject({ ...fields, task: task.nonoptional().optional(), links: links.optional() })
type ExportedEntry = z.infer<typeof ExportedEntry>

export type ExportCheck = {
  checked: number
  /** Contiguous ranges of sequence numbers. A filtered export may contain several. */
  ranges: { from: number; to: number }[]
  /** Last sequence number of the removed range, as recorded by an entry in the file. */
  cutThrough: number | null
  last: { sequence: number; hash: string } | null
  /** First hundred problems. `line` starts at 1. */
  problems: { line: number; problem: string }[]
}

const maxProblems = 100
/** Maximum line length, far above the size of any entry. Line readers can discard the rest. */
export const maxLine = 1024 * 1024

/** Verifies a JSON Lines export offline by checking each entry against its hash and its predecessor. */
export async function checkExport(lines: AsyncIterable<string> | Iterable<string>): Promise<ExportCheck> {
  const result: ExportCheck = { checked: 0, ranges: [], cutThrough: null, last: null, problems: [] }
  const addProblem = (line: number, problem: string): void => {
    if (result.problems.length < maxProblems) result.problems.push({ line, problem })
  }
  const cuts: { through: number; hash: string }[] = []
  let first: ExportedEntry | undefined
  let line = 0
  for await (const text of lines) {
    line += 1
    if (text.trim() === '') continue
    const read = parseExportedEntry(text)
    if (typeof read === 'string') {
      addProblem(line, read)
      continue
    }
    const { sequence, hash, previous_hash: previous } = read
    result.checked += 1
    first ??= read
    const intact = hashEntry(read) === hash
    if (!intact) addProblem(line, `Entry ${sequence} was changed: it does not match its hash.`)
    const range = result.ranges.at(-1)
    if (result.last && sequence <= result.last.sequence) {
      addProblem(line, `Entry ${sequence} comes after entry ${result.last.sequence}.`)
    } else if (result.last?.sequence === sequence - 1 && previous !== result.last.hash) {
      addProblem(line, `Entry ${sequence} does not follow entry ${sequence - 1}: one of them was replaced or moved.`)
    }
    if (sequence === 1 && previous !== genesisHash)
      addProblem(line, 'Entry 1 is not the original first entry of the log.')
    if (range?.to === sequence - 1) range.to = sequence
    else result.ranges.push({ from: sequence, to: sequence })
    if (intact && read.kind === cutKind) cuts.push(...readCut(read))
    result.last = { sequence, hash }
  }
  const cut = cuts.find(({ through }) => through + 1 === first?.sequence)
  if (cut && first) {
    if (cut.hash === first.previous_hash) result.cutThrough = cut.through
    else addProblem(1, `Entry ${first.sequence} does not follow entry ${cut.through}, the last pruned entry.`)
  }
  return result
}

function parseExportedEntry(text: string): ExportedEntry | string {
  if (text.length > maxLine) return 'The line is too long for an entry.'
  try {
    const parsed: unknown = parseJson(text)
    const { data, error } = ExportedEntry.safeParse(parsed)
    if (!data) return `The line is not a log entry: ${error?.issues[0]?.message ?? 'unexpected format'}.`
    // Rejects duplicate fields, because other programs may show the first value.
    if (toCanonicalJson(parsed) !== text.trimEnd())
      return 'The line is not in the format that Steward writes: a field, a space or the order differs.'
    return data
  } catch {
    return 'The line is not valid JSON.'
  }
}

function hashEntry({ hash: _, ...entry }: ExportedEntry): string {
  return createHash('sha256').update(toCanonicalJson(entry)).digest('hex')
}

function readCut({ detail }: ExportedEntry): { through: number; hash: string }[] {
  const { through_sequence: through, through_hash: hash } = detail
  return typeof through === 'number' && typeof hash === 'string' ? [{ through, hash }] : []
}
