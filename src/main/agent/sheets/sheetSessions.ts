import { createHash, randomBytes } from 'node:crypto'
import { AppError } from '#shared/appError.ts'
import { endDocument, stepDocument, type WindowContext } from './sheetDocument.ts'
import { createProblemReader, type ProblemOf } from './sheetProblem.ts'
import type { Problem, SheetFile, SheetFlow, SheetForm, SheetStep } from './sheetStep.ts'

export type SheetRequest = {
  flow: SheetFlow
  context: WindowContext
  /** Shows or changes what is in the wallet: locking that ends the sheet. */
  endsWithLock: boolean
}
export type SheetAnswer = { document: string; context: WindowContext }

/** Prompts that can be opened, and open ones. Their secrets are stored as digests, in memory. */
export type SheetSessions = {
  /** @returns a ticket that begins the sheet, once, and when it is too late for that */
  issue(request: SheetRequest): { ticket: string; expiresAtMs: number }
  /** @throws AppError `sheet/ended` */
  open(ticket: string): SheetAnswer
  /** @throws AppError `sheet/ended` */
  take(form: SheetForm): Promise<SheetAnswer>
  /** @throws AppError `sheet/ended` */
  file(form: SheetForm): SheetFile
  /** The wallet was locked. */
  onLocked(): void
  close(): void
}

export type SheetLimits = { toOpenMs: number; lastsMs: number; atOnce: number }
export const sheetLimits: SheetLimits = { toOpenMs: 60_000, lastsMs: 600_000, atOnce: 4 }

type Options = {
  now: () => number
  /** Called with unexpected errors. */
  onUnexpected: (error: unknown) => void
  limits?: SheetLimits
}

type Waiting = SheetRequest & { endsAtMs: number }
type Open = Waiting & { step: SheetStep; answer: Promise<SheetAnswer> | undefined }

/** Deadlines are looked at this often, since the clock may have been set. */
const maxWaitMs = 60_000

export function createSheetSessions({ now, onUnexpected, limits = sheetLimits }: Options): SheetSessions {
  const waiting = new Map<string, Waiting>()
  const open = new Map<string, Open>()
  const problem: ProblemOf = createProblemReader(onUnexpected)
  let sweeping: NodeJS.Timeout | undefined

  const endWhere = (shouldEnd: (it: Waiting) => boolean): void => {
    for (const collection of [waiting, open]) {
      for (const [key, sheet] of collection) {
        if (!shouldEnd(sheet)) continue
        collection.delete(key)
        sheet.flow.forget()
      }
    }
  }
  /** Removes expired sessions. */
  const sweep = (): void => {
    clearTimeout(sweeping)
    endWhere(({ endsAtMs }) => endsAtMs <= now())
    const next = Math.min(...[...waiting.values(), ...open.values()].map(({ endsAtMs }) => endsAtMs))
    if (Number.isFinite(next)) sweeping = setTimeout(sweep, Math.min(Math.max(next - now(), 1000), maxWaitMs)).unref()
  }
  const evictOldest = (collection: Map<string, Waiting>): void => {
    const [oldest] = collection.size < limits.atOnce ? [] : collection.values()
    if (oldest) endWhere((it) => it === oldest)
  }
  const renderStep = (sheet: Open, was: Problem | undefined, form: SheetForm): SheetAnswer => {
    const key = randomBytes(32).toString('base64url')
    open.set(digest(key), sheet)
    const view = sheet.step.show({ problem: was, form })
    return { document: stepDocument({ view, problem: was, key, context: sheet.context }), context: sheet.context }
  }
  const endSheet = (sheet: Open, end: 'done' | 'cancelled'): SheetAnswer => {
    endWhere((it) => it === sheet)
    sheet.flow.forget()
    return { document: endDocument(end, sheet.context), context: sheet.context }
  }
  const requireOpen = (form: SheetForm): [string, Open] => {
    sweep()
    const key = digest(form('key'))
    const sheet = open.get(key)
    if (!sheet) throw expiredError()
    return [key, sheet]
  }
  const advance = async (key: string, sheet: Open, form: SheetForm): Promise<SheetAnswer> => {
    if (form('do') === 'cancel') return endSheet(sheet, 'cancelled')
    let wrong: Problem | undefined
    try {
      const next = await sheet.step.take(form)
      if (next === 'done') return endSheet(sheet, 'done')
      sheet.step = next
    } catch (error) {
      wrong = problem(error)
    }
    if (!open.delete(key)) {
      sheet.flow.forget() // it was ended concurrently, and the step may hold secrets since
      throw expiredError()
    }
    return renderStep(sheet, wrong, wrong ? form : nothing)
  }

  return {
    issue(request) {
      sweep()
      evictOldest(waiting)
      const ticket = randomBytes(32).toString('base64url')
      const expiresAtMs = now() + limits.toOpenMs
      waiting.set(digest(ticket), { ...request, endsAtMs: expiresAtMs })
      sweep()
      return { ticket, expiresAtMs }
    },
    open(ticket) {
      sweep()
      const key = digest(ticket)
      const request = waiting.get(key)
      if (!request) throw expiredError()
      waiting.delete(key)
      evictOldest(open)
      const sheet = { ...request, endsAtMs: now() + limits.lastsMs, step: request.flow.first, answer: undefined }
      const answer = renderStep(sheet, undefined, nothing)
      sweep()
      return answer
    },
    take(form) {
      const [key, sheet] = requireOpen(form)
      // Sent twice while the first is under way, it is done once and answered alike.
      sheet.answer ??= advance(key, sheet, form).finally(() => {
        sheet.answer = undefined
      })
      return sheet.answer
    },
    file(form) {
      const [, sheet] = requireOpen(form)
      if (!sheet.step.file) throw expiredError()
      return sheet.step.file()
    },
    onLocked: () => endWhere(({ endsWithLock }) => endsWithLock),
    close() {
      clearTimeout(sweeping)
      endWhere(() => true)
    },
  }
}

const nothing: SheetForm = () => ''

function expiredError(): AppError {
  return new AppError('sheet/ended', 'This page was already used or has expired.')
}

function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64')
}
