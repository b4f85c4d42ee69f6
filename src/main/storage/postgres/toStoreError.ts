import { DatabaseError } from 'pg'
import { AppError } from '#shared/appError.ts'
import { ConstraintError, type ConstraintKind, StoreUnavailableError } from '../store.ts'

/** SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const constraints: Readonly<Record<string, ConstraintKind>> = {
  '23505': 'unique',
  '23514': 'check',
  '23502': 'not-null',
  '23503': 'foreign-key',
  '23000': 'trigger', // raised by the triggers of the schema
}
/**
 * Connection errors, missing resources, read-only server, cancelled statement, idle transaction, and operator
 * intervention such as a shutdown.
 */
const unavailable = /^(08|53|25006|25P03|57|58)/

/** Unknown user, wrong password, or unknown database. */
const refusedSignIn = /^(28|3D)/
/** TLS errors of Node.js: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const untrustedCertificate =
  /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/

/** Maps errors of `pg` to those of the store. Returns errors in statements and decoders unchanged. */
export function toStoreError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreUnavailableError) return error
  if (!(error instanceof DatabaseError)) {
    if ('code' in error && untrustedCertificate.test(String(error.code))) {
      const message = 'The certificate of the database server is not valid for its name, or its authority is unknown.'
      return new StoreUnavailableError(message, { cause: error })
    }
    return isConnectionError(error)
      ? new StoreUnavailableError('The database cannot be reached.', { cause: error })
      : error
  }
  const kind = constraints[error.code ?? '']
  if (kind) return new ConstraintError({ kind, ...readColumns(error) }, error)
  if (error.code === '57014') return new StoreUnavailableError('The database took too long.', { cause: error })
  if (refusedSignIn.test(error.code ?? '')) {
    const message = 'The database refused the sign-in. Check the user, the password and the name of the database.'
    return new AppError('data/unusable', message, { cause: error })
  }
  if (unavailable.test(error.code ?? '')) {
    return new StoreUnavailableError('The database refuses the request at the moment.', { cause: error })
  }
  return error
}

/** Whether the transaction lost against another one, or its plan against a migration, and can be repeated. */
export function isConflict(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  const { code, routine } = error
  return code === '40001' || code === '40P01' || (code === '0A000' && routine === 'RevalidateCachedQuery')
}

/** Errors that `pg` creates itself have no code. */
const ownMessages = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'The server does not support SSL connections',
]

export function isConnectionError(error: unknown): boolean {
  if (error instanceof DatabaseError) return /^(08|57P0)/.test(error.code ?? '')
  if (!(error instanceof Error)) return false
  if ('syscall' in error || ('code' in error && /^E[A-Z]+$/.test(String(error.code)))) return true
  return ownMessages.some((it) => error.message.startsWith(it))
}

/** Reads the names in `Key (sandbox_id, port)=(…, …) already exists.` The values stay out of the error. */
function readColumns({ table, column, detail }: DatabaseError): { table?: string; columns?: string[] } {
  const listed = column ?? /^Key \(((?:"?\w+"?(?:, )?)+)\)=/.exec(detail ?? '')?.[1]
  return {
    ...(table !== undefined && listed !== undefined && { table }),
    ...(listed !== undefined && { columns: listed.split(', ').map((it) => it.replaceAll('"', '')) }),
  }
}
