import { createHash, randomBytes } from 'node:crypto'
import { AppError } from '#shared/appError.ts'
import { endDocument, type SheetPlace, stepDocument } from './sheetDocument.ts'
import { type ProblemOf, problemOf } from './sheetProblem.ts'
import type { Problem, SheetFile, SheetFlow, SheetForm, SheetStep } from './sheetStep.ts'

export type SheetRequest = {
  flow: SheetFlow
  place: SheetPlace
  /** Shows or changes what is in the wallet: locking that ends the sheet. */
  endsWithLock: boolean
}
export type SheetAnswer = { document: string; place: SheetPlace }

/** The sheets that may be opened, and those that are open. Their secrets are kept as digests, in memory. */
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
  locked(): void
  close(): void
}

export type SheetLimits = { toOpenMs: number; lastsMs: number; atOnce: number }
export const sheetLimits: SheetLimits = { toOpenMs: 60_000, lastsMs: 600_000, atOnce: 4 }

type Options = {
  now: () => number
  /** For failures that nobody foresaw. */
  onUnexpected: (failure: unknown) => void
  limits?: SheetLimits
}

type Waiting = SheetRequest & { endsAtMs: number }
type Open = Waiting & { step: SheetStep; answer: Promise<SheetAnswer> | undefined }

/** Deadlines are looked at this often, since the clock may have been set. */
const longestWaitMs = 60_000

export function sheetSessions({ now, onUnexpected, limits = sheetLimits }: Options): SheetSessions {
  const waiting = new Map<string, Waiting>()
  const open = new Map<string, Open>()
  const problem: ProblemOf = problemOf(onUnexpected)
  let sweeping: NodeJS.Timeout | undefined

  const endWhere = (isMeant: (it: Waiting) => boolean): void => {
    for (const held of [waiting, open]) {
      for (const [key, it] of held) {
        if (!isMeant(it)) continue
        held.delete(key)
        it.flow.forget()
      }
    }
  }
  /** What nobody comes back to is forgotten in time, too. */
  const sweep = (): void => {
    clearTimeout(sweeping)
    endWhere(({ endsAtMs }) => endsAtMs <= now())
    const next = Math.min(...[...waiting.values(), ...open.values()].map(({ endsAtMs }) => endsAtMs))
    if (Number.isFinite(next))
      sweeping = setTimeout(sweep, Math.min(Math.max(next - now(), 1000), longestWaitMs)).unref()
  }
  const makeRoom = (held: Map<string, Waiting>): void => {
    const [oldest] = held.size < limits.atOnce ? [] : held.values()
    if (oldest) endWhere((it) => it === oldest)
  }
  const shown = (sheet: Open, was: Problem | undefined, given: SheetForm): SheetAnswer => {
    const key = randomBytes(32).toString('base64url')
    open.set(digest(key), sheet)
    const view = sheet.step.show({ problem: was, given })
    return { document: stepDocument({ view, problem: was, key, place: sheet.place }), place: sheet.place }
  }
  const ended = (sheet: Open, end: 'done' | 'cancelled'): SheetAnswer => {
    endWhere((it) => it === sheet)
    sheet.flow.forget()
    return { document: endDocument(end, sheet.place), place: sheet.place }
  }
  const found = (form: SheetForm): [string, Open] => {
    sweep()
    const key = digest(form('key'))
    const sheet = open.get(key)
    if (!sheet) throw gone()
    return [key, sheet]
  }
  const advance = async (key: string, sheet: Open, form: SheetForm): Promise<SheetAnswer> => {
    if (form('do') === 'cancel') return ended(sheet, 'cancelled')
    let wrong: Problem | undefined
    try {
      const next = await sheet.step.take(form)
      if (next === 'done') return ended(sheet, 'done')
      sheet.step = next
    } catch (failure) {
      wrong = problem(failure)
    }
    if (!open.delete(key)) {
      sheet.flow.forget() // it was ended meanwhile, and the step may have held something since
      throw gone()
    }
    return shown(sheet, wrong, wrong ? form : nothing)
  }

  return {
    issue(request) {
      sweep()
      makeRoom(waiting)
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
      if (!request) throw gone()
      waiting.delete(key)
      makeRoom(open)
      const sheet = { ...request, endsAtMs: now() + limits.lastsMs, step: request.flow.first, answer: undefined }
      const answer = shown(sheet, undefined, nothing)
      sweep()
      return answer
    },
    take(form) {
      const [key, sheet] = found(form)
      // Sent twice while the first is under way, it is done once and answered alike.
      sheet.answer ??= advance(key, sheet, form).finally(() => {
        sheet.answer = undefined
      })
      return sheet.answer
    },
    file(form) {
      const [, sheet] = found(form)
      if (!sheet.step.file) throw gone()
      return sheet.step.file()
    },
    locked: () => endWhere(({ endsWithLock }) => endsWithLock),
    close() {
      clearTimeout(sweeping)
      endWhere(() => true)
    },
  }
}

const nothing: SheetForm = () => ''

function gone(): AppError {
  return new AppError('sheet/ended', 'This page was already used or has expired.')
}

function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64')
}
