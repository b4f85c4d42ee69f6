/**
 * Every failure a caller can meet. `status` is the HTTP status, `hint` what to do about it.
 * Codes are stable: clients branch on them, sentences may be reworded.
 */
export const errorCatalogue = {
  'auth/required': { status: 401, hint: 'Send an API key as `Authorization: Bearer <key>` or `x-api-key`.' },
  'auth/invalid': { status: 401, hint: 'Check the API key, or create a new one.' },
  'auth/session': { status: 401, hint: 'Start Steward again: `npm start` opens or prints a new address.' },
  'auth/forbidden': { status: 403, hint: 'Use a key or a session that is allowed to do this.' },
  'auth/account-requested': { status: 403, hint: 'Once they allow it in Steward, under Approvals, sign in again.' },
  'auth/account-denied': { status: 403, hint: 'Ask the owner to allow it in Steward, under Approvals.' },
  'auth/host': { status: 403, hint: 'Use the address that Steward printed when it started.' },
  'auth/origin': { status: 403, hint: 'Only pages that Steward itself serves may call this address.' },
  'auth/nonce': { status: 401, hint: 'Get a new nonce, sign it, and send it within five minutes.' },
  'auth/verification': { status: 400, hint: 'Sign the message exactly as it is sent, with the wallet that it names.' },
  'auth/refresh': { status: 401, hint: 'Sign in again.' },
  'auth/wallet-linked': { status: 409, hint: 'Sign in with that wallet, or part it from the other account first.' },
  'auth/wallet-not-linked': { status: 404, hint: 'GET /v1/auth/me lists the wallets of this account.' },
  'auth/wallet-needed': { status: 403, hint: 'Sign in with a wallet, or link one: POST /v1/auth/wallets.' },
  'request/invalid': { status: 400, hint: 'Correct the named field and send the request again.' },
  'request/malformed': { status: 400, hint: 'Send a JSON object with `Content-Type: application/json`.' },
  'request/not-found': { status: 404, hint: 'See /docs for every path.' },
  'request/method': { status: 405, hint: 'See /docs for the methods of this path.' },
  'request/too-large': { status: 413, hint: 'Send less at once.' },
  'request/media-type': { status: 415, hint: 'Send a JSON object with `Content-Type: application/json`.' },
  'request/upgrade': { status: 426, hint: 'Open this address as a WebSocket.' },
  'request/range': { status: 416, hint: 'Ask for a range within the file.' },
  'request/rate': { status: 429, hint: 'Wait as long as `Retry-After` says.' },
  'request/reused-key': { status: 409, hint: 'Use a new Idempotency-Key for a different request.' },
  'account-request/not-found': { status: 404, hint: 'GET /v1/auth/account-requests lists those that are kept.' },
  'account-request/decided': { status: 409, hint: 'An account that was allowed stays.' },
  'key/not-found': { status: 404, hint: 'List the keys to see their ids.' },
  'sandbox/not-found': { status: 404, hint: 'List the sandboxes to see their ids.' },
  'sandbox/not-running': { status: 409, hint: 'Start the sandbox first.' },
  'sandbox/busy': { status: 409, hint: 'Wait until the change under way has ended.' },
  'sandbox/capacity': { status: 503, hint: 'Stop or delete a sandbox, or ask for less.' },
  'sandbox/full': { status: 503, hint: 'End some programs of this sandbox, then try again.' },
  'sandbox/start-failed': { status: 500, hint: 'Run `npm start -- doctor` to see what this machine can do.' },
  'sandbox/stop-failed': { status: 500, hint: 'Try again; if it stays, restart Steward and look into its log.' },
  'runtime/unknown': { status: 400, hint: 'Use one of the runtimes that GET /v1/runtimes lists.' },
  'runtime/unavailable': { status: 503, hint: 'Run `npm start -- doctor` to see what is missing.' },
  'egress/unavailable': { status: 503, hint: 'GET /v1/runtimes says what is missing; or choose `none`.' },
  'image/not-found': { status: 404, hint: 'List the images to see which there are.' },
  'image/not-ready': { status: 409, hint: 'Wait until the image is added.' },
  'image/exists': { status: 409, hint: 'Choose another name, or remove that image first.' },
  'image/in-use': { status: 409, hint: 'Delete the sandboxes that were made from it first.' },
  'image/source': { status: 400, hint: 'GET /v1/runtimes says from which sources each runtime makes images.' },
  'image/failed': { status: 500, hint: 'Correct what the sentence names, and add it again.' },
  'snapshot/not-found': { status: 404, hint: 'List the snapshots of the sandbox to see their ids.' },
  'snapshot/too-many': { status: 429, hint: 'Delete a snapshot of this sandbox first.' },
  'snapshot/failed': { status: 500, hint: 'Nothing was changed; try again.' },
  'exec/failed': { status: 500, hint: 'The command could not be run; its exit code is unknown.' },
  'file/not-found': { status: 404, hint: 'List the folder to see what is there.' },
  'file/not-a-file': { status: 400, hint: 'Name a regular file.' },
  'file/not-a-folder': { status: 400, hint: 'Name a folder.' },
  'file/path': { status: 400, hint: 'Use an absolute path inside the sandbox, without `..`.' },
  'file/denied': { status: 403, hint: 'The sandbox does not allow this path to be changed.' },
  'file/no-space': { status: 507, hint: 'Free disk space in the sandbox, or create one with a larger disk.' },
  'file/exists': { status: 409, hint: 'Choose another name, or allow it to be replaced.' },
  'file/other-system': { status: 409, hint: 'Copy it, then remove it.' },
  'file/not-empty': { status: 409, hint: 'Allow it to be removed with everything in it.' },
  'file/changed': { status: 409, hint: 'Read it again: it is no longer as it was.' },
  'upload/not-found': { status: 404, hint: 'Begin the upload again.' },
  'upload/too-many': { status: 429, hint: 'Complete or call off an upload to this sandbox first.' },
  'upload/checksum': { status: 409, hint: 'Begin the upload again: what came is not what was sent.' },
  'upload/offset': { status: 409, hint: 'Ask the upload for its offset, and go on from there.' },
  'file/too-large': { status: 413, hint: 'Copy it in parts with a command in the sandbox.' },
  'terminal/not-found': { status: 404, hint: 'List the terminals of the sandbox to see their ids.' },
  'terminal/exited': { status: 409, hint: 'Create a new terminal; this one can only be read.' },
  'terminal/too-many': { status: 429, hint: 'Close a terminal of this sandbox first.' },
  'terminal/too-slow': { status: 408, hint: 'Attach again, and acknowledge output as it is used.' },
  'terminal/failed': { status: 500, hint: 'The terminal could not be started.' },
  'port/not-found': { status: 404, hint: 'List the ports of the sandbox to see which are exposed.' },
  'port/taken': { status: 409, hint: 'Choose another subdomain.' },
  'key/too-many': { status: 429, hint: 'Revoke an API key of this account first.' },
  'port/too-many': { status: 429, hint: 'Remove an exposed port of this sandbox first.' },
  'port/busy': { status: 503, hint: 'Close some connections to this sandbox, and try again.' },
  'port/stopped': { status: 503, hint: 'Start the sandbox, then reload.' },
  'port/silent': { status: 502, hint: 'Start a server on this port in the sandbox, then reload.' },
  'port/failed': { status: 502, hint: 'Look at the server in the sandbox, then try again.' },
  'port/late': { status: 504, hint: 'Look at the server in the sandbox: it took the request and did not answer.' },
  'process/not-found': { status: 404, hint: 'List the processes of the sandbox to see which run.' },
  'sandbox-domain/not-found': { status: 404, hint: 'List the domains of the sandbox.' },
  'sandbox-domain/too-many': { status: 429, hint: 'Remove a domain of this sandbox first.' },
  'sandbox-domain/taken': { status: 409, hint: 'Remove it from the other sandbox first, or choose another name.' },
  'identity/hash': { status: 400, hint: 'Hash the canonical JSON: sorted keys, no spaces, addresses as sent.' },
  'identity/signature': { status: 401, hint: 'Sign with the key of `automaton_address`.' },
  'identity/nonce-used': { status: 409, hint: 'Use a new nonce, and sign again.' },
  'identity/nonce-bound': { status: 403, hint: 'Use a nonce of your own: POST /v1/automatons/nonce.' },
  'identity/immutable': { status: 409, hint: 'Send the profile as it was registered, or register another automaton.' },
  'identity/not-found': { status: 404, hint: 'List the automatons to see their ids.' },
  'registration/not-found': { status: 404, hint: 'List the registrations to see their ids.' },
  'registration/state': { status: 409, hint: 'Only a registration that was signed and did not arrive is sent again.' },
  'wallet/absent': { status: 409, hint: 'Create or import a wallet first.' },
  'wallet/locked': { status: 423, hint: 'Unlock the wallet in Steward, and try again.' },
  'wallet/keychain-locked': { status: 423, hint: 'Unlock the keychain of your system, and try again.' },
  'wallet/keychain-unavailable': { status: 503, hint: 'Start the keychain of your system, and try again.' },
  'wallet/passphrase': { status: 403, hint: 'Check the passphrase; capital letters count.' },
  'wallet/passphrase-weak': { status: 400, hint: 'Take at least 10 characters; several words are good.' },
  'wallet/damaged': { status: 500, hint: 'Nothing was written over it: put a copy back, or import the phrase anew.' },
  'wallet/phrase': { status: 400, hint: 'Check the words and their order against what was written down.' },
  'wallet/private-key': { status: 400, hint: 'A private key has 64 hexadecimal digits; one of Solana is base58.' },
  'wallet/keystore': { status: 400, hint: 'Choose a Keystore V3 file, and the password that it was made with.' },
  'wallet/duplicate': { status: 409, hint: 'It is in this wallet already.' },
  'wallet/account-not-found': { status: 404, hint: 'GET /local/wallet lists the accounts.' },
  'wallet/keyring-not-found': { status: 404, hint: 'GET /local/wallet lists the phrases and keys.' },
  'wallet/confirmation': { status: 400, hint: 'Type the label exactly as it is shown.' },
  'wallet/failed': { status: 500, hint: 'Nothing was changed; try again.' },
  'sheet/ended': { status: 410, hint: 'Open it again from Steward.' },
  'chain/unknown': { status: 400, hint: 'GET /local/wallet/networks lists the networks.' },
  'intent/not-found': { status: 404, hint: 'Ask again: it is not kept for ever.' },
  'intent/invalid': { status: 400, hint: 'Correct what the sentence names, and ask again.' },
  'intent/decided': { status: 409, hint: 'It was decided already; ask anew.' },
  'intent/denied': { status: 403, hint: 'The person or the policy of this wallet refused it.' },
  'intent/stopped': { status: 403, hint: 'The stop switch is on: only the person can turn it off.' },
  'intent/too-many': { status: 429, hint: 'Wait until some of the open requests were decided.' },
  'intent/confirmation': { status: 403, hint: 'Confirm it in the dialog that Steward opens.' },
  'policy/confirmation': { status: 403, hint: 'Confirm it outside of the window, in the dialog that Steward opens.' },
  'grant/not-found': { status: 404, hint: 'List the grants to see their ids.' },
  'service/sign-in': { status: 503, hint: 'Unlock the wallet: the service knows this Steward by it.' },
  'host/unavailable': { status: 503, hint: 'The sandbox host is starting again; try again in a moment.' },
  'service/unavailable': { status: 503, hint: 'The service is starting again; try again in a moment.' },
  'command/usage': { status: 400, hint: 'Add --help to see every option.' },
  'config/invalid': { status: 500, hint: 'Correct the named key; docs/configuration.md lists them all.' },
  'data/in-use': { status: 409, hint: 'Stop the other Steward first, or use another --data folder.' },
  'data/unusable': { status: 500, hint: 'Check the data folder and its permissions.' },
  'data/newer': { status: 500, hint: 'Use the newer Steward, or another --data folder.' },
  'listen/failed': { status: 500, hint: 'Choose another address with --listen HOST:PORT.' },
  'listen/insecure': {
    status: 500,
    hint: 'Give TLS files, or --insecure-behind-proxy when a proxy in front of it adds TLS.',
  },
  'internal/unexpected': { status: 500, hint: 'Try again; if it stays, look into the log and report it.' },
} as const

export type ErrorCode = keyof typeof errorCatalogue

/** The body of every answer that is not 2xx. */
export type ErrorBody = { error: string; code: ErrorCode; detail?: string; hint?: string }

/** An expected failure: `message` names the value that was wrong, the catalogue tells what to do. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly detail: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; detail?: string; retryAfterSeconds?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.detail = options.detail
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  get status(): number {
    return errorCatalogue[this.code].status
  }

  get hint(): string {
    return errorCatalogue[this.code].hint
  }

  toBody(): ErrorBody {
    return {
      error: this.message,
      code: this.code,
      ...(this.detail !== undefined && { detail: this.detail }),
      hint: this.hint,
    }
  }
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(errorCatalogue, value)
}
