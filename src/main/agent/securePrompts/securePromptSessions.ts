import { createHash, randomBytes } from 'node:crypto'
import { AppError, type ErrorCode } from '#shared/appError.ts'
import { renderEndDocument, renderStepDocument, type WindowContext } from './securePromptDocument.ts'
import {
  FieldError,
  type Problem,
  type SecurePromptFile,
  type SecurePromptFlow,
  type SecurePromptForm,
  type SecurePromptStep,
} from './securePromptStep.ts'

/** Fields in which the user can correct an error of the wallet. */
const fieldOfError: Partial<Record<ErrorCode, string>> = {
  'wallet/passphrase': 'passphrase',
  'wallet/passphrase-weak': 'new_passphrase', // or `password`, if the page has that field
  'wallet/phrase': 'phrase',
  'wallet/private-key': 'private_key',
  'wallet/keystore': 'keystore',
  'wallet/confirmation': 'typed_label',
  'provider-key/invalid': 'api_key',
}

type DescribeProblem = (error: unknown) => Problem

export type SecurePromptRequest = {
  flow: SecurePromptFlow
  context: WindowContext
  /** Whether locking the wallet ends the secure prompt, because it displays or changes wallet content. */
  endsWithLock: boolean
}
export type SecurePromptAnswer = { document: string; context: WindowContext }

/** Issued and open prompts. Only digests of their secrets are stored, in memory. */
export type SecurePromptSessions = {
  /** @returns a ticket that opens the secure prompt once, with its expiry */
  issue(request: SecurePromptRequest): { ticket: string; expiresAtMs: number }
  /** @throws AppError `secure-prompt/ended` */
  open(ticket: string): SecurePromptAnswer
  /** @throws AppError `secure-prompt/ended` */
  take(form: SecurePromptForm): Promise<SecurePromptAnswer>
  /** @throws AppError `secure-prompt/ended` */
  file(form: SecurePromptForm): SecurePromptFile
  /** Called when the wallet was locked. */
  onLocked(): void
  close(): void
}

export type SecurePromptLimits = { toOpenMs: number; lastsMs: number; atOnce: number }
export const securePromptLimits: SecurePromptLimits = { toOpenMs: 60_000, lastsMs: 600_000, atOnce: 4 }

type Options = {
  now: () => number
  onUnexpected: (error: unknown) => void
  limits?: SecurePromptLimits
}

type IssuedPrompt = SecurePromptRequest & { endsAtMs: number }
type OpenPrompt = IssuedPrompt & { step: SecurePromptStep; answer: Promise<SecurePromptAnswer> | undefined }

/** Maximum interval between checks of deadlines, because the clock may be changed. */
const maxWaitMs = 60_000

export function createSecurePromptSessions({
  now,
  onUnexpected,
  limits = securePromptLimits,
}: Options): SecurePromptSessions {
  const prompts = createPromptStore(now, limits)
  const { waiting, open } = prompts
  const problem: DescribeProblem = createErrorDescriber(onUnexpected)

  const renderStep = (prompt: OpenPrompt, was: Problem | undefined, form: SecurePromptForm): SecurePromptAnswer => {
    const key = randomBytes(32).toString('base64url')
    open.set(hashSecret(key), prompt)
    const view = prompt.step.show({ problem: was, form })
    return {
      document: renderStepDocument({ view, problem: was, key, context: prompt.context }),
      context: prompt.context,
    }
  }
  const endSecurePrompt = (prompt: OpenPrompt, end: 'done' | 'cancelled'): SecurePromptAnswer => {
    prompts.endWhere((it) => it === prompt)
    prompt.flow.forget()
    return { document: renderEndDocument(end, prompt.context), context: prompt.context }
  }
  const requireOpen = (form: SecurePromptForm): [string, OpenPrompt] => {
    prompts.sweep()
    const key = hashSecret(form('key'))
    const prompt = open.get(key)
    if (!prompt) throw createExpiredError()
    return [key, prompt]
  }
  const advance = async (key: string, prompt: OpenPrompt, form: SecurePromptForm): Promise<SecurePromptAnswer> => {
    if (form('do') === 'cancel') return endSecurePrompt(prompt, 'cancelled')
    let wrong: Problem | undefined
    try {
      const next = await prompt.step.take(form)
      if (next === 'done') return endSecurePrompt(prompt, 'done')
      prompt.step = next
    } catch (error) {
      wrong = problem(error)
    }
    if (!open.delete(key)) {
      prompt.flow.forget() // ended concurrently, and the step may have stored secrets since
      throw createExpiredError()
    }
    return renderStep(prompt, wrong, wrong ? form : renderNothing)
  }

  return {
    issue(request) {
      prompts.sweep()
      prompts.evictOldest(waiting)
      const ticket = randomBytes(32).toString('base64url')
      const expiresAtMs = now() + limits.toOpenMs
      waiting.set(hashSecret(ticket), { ...request, endsAtMs: expiresAtMs })
      prompts.sweep()
      return { ticket, expiresAtMs }
    },
    open(ticket) {
      prompts.sweep()
      const key = hashSecret(ticket)
      const request = waiting.get(key)
      if (!request) throw createExpiredError()
      waiting.delete(key)
      prompts.evictOldest(open)
      const prompt = { ...request, endsAtMs: now() + limits.lastsMs, step: request.flow.first, answer: undefined }
      const answer = renderStep(prompt, undefined, renderNothing)
      prompts.sweep()
      return answer
    },
    take(form) {
      const [key, prompt] = requireOpen(form)
      // A form that is submitted again concurrently is processed once and gets the same response.
      prompt.answer ??= advance(key, prompt, form).finally(() => {
        prompt.answer = undefined
      })
      return prompt.answer
    },
    file(form) {
      const [, prompt] = requireOpen(form)
      if (!prompt.step.file) throw createExpiredError()
      return prompt.step.file()
    },
    onLocked: () => prompts.endWhere(({ endsWithLock }) => endsWithLock),
    close: prompts.close,
  }
}

/** Creates the store of prompts by the digest of their ticket or key, until they end or expire. */
function createPromptStore(now: () => number, { atOnce }: SecurePromptLimits) {
  const waiting = new Map<string, IssuedPrompt>()
  const open = new Map<string, OpenPrompt>()
  let sweeping: NodeJS.Timeout | undefined

  const endWhere = (shouldEnd: (it: IssuedPrompt) => boolean): void => {
    for (const collection of [waiting, open]) {
      for (const [key, prompt] of collection) {
        if (!shouldEnd(prompt)) continue
        collection.delete(key)
        prompt.flow.forget()
      }
    }
  }
  const sweep = (): void => {
    clearTimeout(sweeping)
    endWhere(({ endsAtMs }) => endsAtMs <= now())
    const next = Math.min(...[...waiting.values(), ...open.values()].map(({ endsAtMs }) => endsAtMs))
    if (Number.isFinite(next)) sweeping = setTimeout(sweep, Math.min(Math.max(next - now(), 1000), maxWaitMs)).unref()
  }
  return {
    waiting,
    open,
    endWhere,
    sweep,
    /** Ends the oldest prompt of a collection that is at capacity. */
    evictOldest(collection: Map<string, IssuedPrompt>): void {
      const [oldest] = collection.size < atOnce ? [] : collection.values()
      if (oldest) endWhere((it) => it === oldest)
    },
    close(): void {
      clearTimeout(sweeping)
      endWhere(() => true)
    },
  }
}

const renderNothing: SecurePromptForm = () => ''

function createExpiredError(): AppError {
  return new AppError('secure-prompt/ended', 'This page was already used or has expired.')
}

function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64')
}

/** Creates the function that converts an error to the message of a page. Unexpected errors go to `onUnexpected`. */
function createErrorDescriber(onUnexpected: (error: unknown) => void): DescribeProblem {
  return (error) => {
    if (error instanceof FieldError) return { message: error.message, hint: undefined, field: error.field }
    if (error instanceof AppError && error.code !== 'internal/unexpected') {
      return { message: error.message, hint: error.hint, field: fieldOfError[error.code] }
    }
    onUnexpected(error)
    return { message: 'Something went wrong in Steward.', hint: 'Nothing was changed. Try again.', field: undefined }
  }
}
