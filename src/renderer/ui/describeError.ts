import { AppError, type ErrorCode } from '#shared/appError.ts'
import { buildAddress } from './route.ts'

export type ErrorLink = { label: string; href: string }

export type ErrorText = {
  message: string
  hint: string
  detail: string | undefined
  /** Link to the list of existing items. */
  link: ErrorLink | undefined
  /** Whether the same request may succeed later. */
  mayRetry: boolean
}

type Missing = { message: string; list?: readonly [label: string, ...place: readonly string[]] }

const sandboxes = ['Show sandboxes', 'terminals'] as const

/** Replaces hints that name API calls with a text for the window and a link to the list. */
const missing: Partial<Record<ErrorCode, Missing>> = {
  'sandbox/not-found': { message: 'This sandbox was deleted.', list: sandboxes },
  'terminal/not-found': { message: 'This terminal has been removed.', list: sandboxes },
  'snapshot/not-found': { message: 'This snapshot was deleted.', list: sandboxes },
  'image/not-found': { message: 'This image was deleted.', list: sandboxes },
  'port/not-found': { message: 'This port is no longer exposed.', list: sandboxes },
  'process/not-found': { message: 'This process has ended.', list: sandboxes },
  'purchase/not-found': { message: 'This payment doesn’t exist.', list: ['Show payments', 'payments'] },
  'domain/not-found': { message: 'You don’t have this domain.', list: ['Show my domains', 'domains'] },
  'intent/not-found': { message: 'This request was deleted.', list: ['Show approvals', 'approvals'] },
  'grant/not-found': {
    message: 'This remembered approval was removed.',
    list: ['Show policies', 'settings', 'policies'],
  },
  'activity/task-not-found': {
    message: 'The entries of this task were removed.',
    list: ['Show tasks', 'activity', 'tasks'],
  },
  'recording/not-found': {
    message: 'This recording was deleted.',
    list: ['Show recordings', 'activity', 'recordings'],
  },
  'chat/not-found': { message: 'This chat was deleted.', list: ['Start a new chat', 'chat', 'new'] },
  'chat/message-not-found': { message: 'This message was deleted.' },
  'provider-key/not-found': { message: 'This provider has no key.', list: ['Show models', 'settings', 'models'] },
  'model-server/not-found': { message: 'This model server was removed.', list: ['Show models', 'settings', 'models'] },
  'tool-server/not-found': {
    message: 'This tool server was removed.',
    list: ['Show tool servers', 'settings', 'tool-servers'],
  },
  'tool/client-not-found': {
    message: 'This tool client was removed.',
    list: ['Show tool clients', 'settings', 'tools'],
  },
  'registration/not-found': { message: 'This registration doesn’t exist.', list: ['Show identities', 'identity'] },
}

/** Describes an error for the user: what happened, and what to do. */
export function describeError(error: unknown): ErrorText {
  if (!(error instanceof AppError)) {
    const message = error instanceof Error && error.message !== '' ? error.message : 'Something went wrong.'
    return { message, hint: 'Try again, or reload the window.', detail: undefined, link: undefined, mayRetry: true }
  }
  const { code, message, hint, detail } = error
  const sentence = missing[code]
  if (!sentence)
    return {
      message,
      hint: isForPrograms(hint) ? '' : hint,
      detail,
      link: undefined,
      mayRetry: !/not-found$/.test(code),
    }
  const [label, ...place] = sentence.list ?? []
  return {
    message: sentence.message,
    hint: '',
    detail: undefined,
    link: label === undefined ? undefined : { label, href: buildAddress(...place) },
    mayRetry: false,
  }
}

/** Whether a hint names an API call. */
function isForPrograms(hint: string): boolean {
  return /^(GET|POST|PUT|PATCH|DELETE|List) /.test(hint)
}
