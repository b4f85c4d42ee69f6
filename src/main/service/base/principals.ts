import { createPrincipals, type PrincipalId, type Principals } from '#platform/access/principals.ts'
import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { AccountId } from '#shared/ids.ts'

/**
 * Kinds of principals. `sign-in`: a family of refresh tokens. `frame`: a preview in a frame of the window. `person`:
 * the user in the window of the application; ends with the process.
 */
export const principalKinds = ['key', 'sign-in', 'link', 'port-token', 'frame', 'person'] as const
export type PrincipalKind = (typeof principalKinds)[number]

/** Kinds of work that take a lease, each with the revocable principals that may do it. */
export const workKinds = {
  request: ['key', 'sign-in', 'link'],
  completion: ['key', 'sign-in'],
  exec: ['key', 'sign-in'],
  poll: ['key', 'sign-in', 'link'],
  download: ['key', 'sign-in'],
  upload: ['key', 'sign-in'],
  'terminal-socket': ['key', 'sign-in', 'link'],
  'event-socket': ['key', 'sign-in'],
  'preview-exchange': ['key', 'sign-in', 'port-token', 'frame'],
  'preview-socket': ['key', 'sign-in', 'port-token', 'frame'],
} as const satisfies Record<string, readonly PrincipalKind[]>
export type WorkKind = keyof typeof workKinds

/** Kinds of credentials that end with their issuer, each with the principals that can issue them. */
export const issuedKinds = {
  'terminal-link': ['key', 'sign-in'],
  'port-token': ['key', 'sign-in'],
  'frame-session': ['key', 'sign-in'],
  'api-key': ['sign-in'],
} as const satisfies Record<string, readonly PrincipalKind[]>

export type PrincipalRights = { accountId: AccountId }

/**
 * Issuer of a credential, as stored with it. Both are null if the window issued it, or a version that did not store
 * issuers.
 */
export type Issuer = { keyId: string | null; signIn: string | null }

export type ServicePrincipals = Principals<PrincipalRights, WorkKind> & {
  /** Registers the lookup of a principal's current rights for one kind. The id excludes the kind. */
  add(kind: PrincipalKind, findRights: (id: string) => PrincipalRights | undefined): void
  /** Whether the principal has rights now. */
  isPresent(principal: PrincipalId): boolean
  close(): void
}

/** Interval of checks, which also end expired credentials. */
const compareEveryMs = 30_000

/**
 * Creates the registry of the work and the credentials of all principals of the service. `end` also ends the
 * credentials that the principal issued.
 */
export function createServicePrincipals({ now, log }: { now: () => number; log: Log }): ServicePrincipals {
  const finders = new Map<string, (id: string) => PrincipalRights | undefined>()
  const getRights = (principal: PrincipalId): PrincipalRights | undefined => {
    const separator = principal.indexOf(':')
    return finders.get(principal.slice(0, separator))?.(principal.slice(separator + 1))
  }
  const principals = createPrincipals<PrincipalRights, WorkKind>({
    getRights,
    endedError: toEndedError,
    now,
  })
  const timer = setInterval(() => {
    try {
      principals.endAbsent()
    } catch (error) {
      log.error('failed to check open work against its principals', { error })
    }
  }, compareEveryMs)
  timer.unref()
  return {
    ...principals,
    add: (kind, findRights) => void finders.set(kind, findRights),
    isPresent: (principal) => getRights(principal) !== undefined,
    end(principal) {
      try {
        principals.end(principal)
      } finally {
        principals.endAbsent()
      }
    },
    close: () => clearInterval(timer),
  }
}

export function toIssuer(principal: PrincipalId): Issuer {
  const [kind, id = ''] = principal.split(':')
  return { keyId: kind === 'key' ? id : null, signIn: kind === 'sign-in' ? id : null }
}

const endedMessages: Readonly<Record<PrincipalKind, string>> = {
  key: 'This API key was revoked.',
  'sign-in': 'This sign-in has ended.',
  link: 'This terminal link has ended.',
  'port-token': 'This port token has ended.',
  frame: 'This preview has ended.',
  person: 'This service does not know this window.',
}

function toEndedError(principal: PrincipalId): AppError {
  const kind = principalKinds.find((it) => principal.startsWith(`${it}:`))
  return new AppError('auth/invalid', kind ? endedMessages[kind] : 'This credential has ended.')
}
