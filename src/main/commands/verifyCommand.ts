import { createReadStream } from 'node:fs'
import { checkExport, type ExportCheck, maxLine } from '#agent/activity/exportCheck.ts'
import type { StartOptions } from '#config/startOptions.ts'
import { AppError } from '#shared/appError.ts'

/**
 * Verifies an export of the activity log without access to the log.
 * @returns the exit code of the program: 1 if an entry was changed
 * @throws AppError `command/usage`
 */
export async function runVerify({ verify: file, json }: Pick<StartOptions, 'verify' | 'json'>): Promise<number> {
  if (file === undefined)
    throw new AppError('command/usage', '`verify` requires a file, as in `verify steward-activity.jsonl`.')
  const check = await checkFile(file)
  if (json) process.stdout.write(`${JSON.stringify({ event: 'verified', ok: isIntact(check), ...check })}\n`)
  else process.stdout.write(describeCheck(check))
  return isIntact(check) ? 0 : 1
}

/** @throws AppError `command/usage` */
export function checkFile(file: string): Promise<ExportCheck> {
  return checkExport(readLines(file))
}

/**
 * Splits only at `\n` or `\r\n`, because an entry may contain any other character. Drops a byte order mark. Truncates
 * lines that are too long.
 */
async function* readLines(file: string): AsyncGenerator<string> {
  const stream = createReadStream(file, { encoding: 'utf8' })
  let line = ''
  const add = (piece: string): void => {
    if (line.length <= maxLine) line += piece
  }
  try {
    let isFirst = true
    for await (const piece of stream as AsyncIterable<string>) {
      const [begun = '', ...rest] = (isFirst ? piece.replace(/^\u{feff}/u, '') : piece).split('\n')
      isFirst = false
      add(begun)
      for (const next of rest) {
        yield line.replace(/\r$/, '')
        line = next
      }
    }
  } catch (cause) {
    throw createUnreadableError(file, cause)
  } finally {
    stream.destroy()
  }
  if (line !== '') yield line
}

function createUnreadableError(file: string, cause: unknown): AppError {
  return new AppError('command/usage', `${file} cannot be read.`, { cause })
}

function isIntact({ problems, checked }: ExportCheck): boolean {
  return problems.length === 0 && checked > 0
}

export function describeCheck({ checked, ranges, cutThrough, last, problems }: ExportCheck): string {
  if (problems.length > 0) {
    const lines = problems.map(({ line, problem }) => `  line ${line}: ${problem}\n`)
    return `The export was changed:\n${lines.join('')}`
  }
  if (checked === 0 || !last) return 'The file has no entries.\n'
  const [first] = ranges
  const notes = [
    `${checked === 1 ? '1 entry is' : `${checked} entries are`} intact.\n`,
    ranges.length > 1 && `Gaps: ${ranges.length - 1}. A filtered export has gaps.\n`,
    cutThrough !== null && `Steward removed entries 1 to ${cutThrough}, as recorded in the log.\n`,
    cutThrough === null && first && first.from > 1 && `First entry: ${first.from}.\n`,
    `Last entry: ${last.sequence}, hash ${last.hash}.\n`,
  ]
  return notes.filter((note) => note !== false && note !== undefined).join('')
}
