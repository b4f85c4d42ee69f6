/**
 * Errors that a caller can receive, with the HTTP status and a hint for the caller. Codes are stable, because clients
 * branch on them. A renamed error keeps its `formerCode` until the next minor version.
 */
export const errorCatalogue = {
  'auth/required': { status: 401, hint: 'Send an API key as `Authorization: Bearer <key>` or `x-api-key`.' },
  'auth/invalid': { status: 401, hint: 'Check the API key, or create a new one.' },
  'auth/session': { status: 401, hint: 'Start Steward again: `npm start` opens or prints a new address.' },
  'auth/forbidden': { status: 403, hint: 'Use a key or session that has permission to do this.' },
  'auth/account-requested': {
    status: 403,
    hint: 'Wait until the owner allows the account in Steward, under Approvals, then sign in again.',
  },
  'auth/account-denied': { status: 403, hint: 'Ask the owner to allow the account in Steward, under Approvals.' },
  'auth/host': { status: 403, hint: 'Use the address that Steward printed at startup.' },
  'auth/origin': {
    status: 403,
    hint: 'Send the request from a page of Steward. Other origins cannot call this address.',
  },
  'auth/nonce': { status: 401, hint: 'Get a new nonce, sign it, and send it within 5 minutes.' },
  'auth/verification': {
    status: 400,
    hint: 'Sign the exact message that you send, with the wallet that the message names.',
  },
  'auth/refresh': { status: 401, hint: 'Sign in again.' },
  'auth/wallet-linked': { status: 409, hint: 'Sign in with that wallet, or unlink it from the other account first.' },
  'auth/wallet-not-linked': { status: 404, hint: 'List the wallets of this account with GET /v1/auth/me.' },
  'auth/wallet-needed': { status: 403, hint: 'Sign in with a wallet, or link one with POST /v1/auth/wallets.' },
  'request/invalid': { status: 400, hint: 'Correct the named field and send the request again.' },
  'request/malformed': { status: 400, hint: 'Send a JSON object with `Content-Type: application/json`.' },
  'request/not-found': { status: 404, hint: 'See /docs for every path.' },
  'request/method': { status: 405, hint: 'See /docs for the methods of this path.' },
  'request/too-large': { status: 413, hint: 'Send less data per request.' },
  'request/media-type': { status: 415, hint: 'Send a JSON object with `Content-Type: application/json`.' },
  'request/upgrade': { status: 426, hint: 'Open this address as a WebSocket.' },
  'request/range': { status: 416, hint: 'Request a range within the file.' },
  'request/rate': { status: 429, hint: 'Wait for the number of seconds in `Retry-After`, then try again.' },
  'request/unrepeatable': { status: 409, hint: 'Send the request with a new Idempotency-Key to run it again.' },
  'request/reused-key': { status: 409, hint: 'Use a new Idempotency-Key for a different request.' },
  'account-request/not-found': { status: 404, hint: 'List the requests with GET /v1/auth/account-requests.' },
  'account-request/decided': { status: 409, hint: 'Leave the account as it is. An allowed account cannot be denied.' },
  'key/not-found': { status: 404, hint: 'List the keys to see their ids.' },
  'sandbox/not-found': { status: 404, hint: 'List the sandboxes to see their ids.' },
  'sandbox/not-running': { status: 409, hint: 'Start the sandbox first.' },
  'sandbox/busy': { status: 409, hint: 'Wait for the current change to finish, then try again.' },
  'sandbox/capacity': { status: 503, hint: 'Stop or delete a sandbox, or request fewer resources.' },
  'sandbox/full': { status: 503, hint: 'End some programs in this sandbox, then try again.' },
  'sandbox/start-failed': { status: 500, hint: 'Run `npm start -- doctor` to see what this computer supports.' },
  'sandbox/stop-failed': { status: 500, hint: 'Try again. If it keeps failing, restart Steward and check its log.' },
  'runtime/unknown': { status: 400, hint: 'Use a runtime from GET /v1/runtimes.' },
  'runtime/unavailable': { status: 503, hint: 'Run `npm start -- doctor` to see what is missing.' },
  'egress/unavailable': {
    status: 503,
    hint: 'See GET /v1/runtimes for missing requirements, or use the network `none`.',
  },
  'image/not-found': { status: 404, hint: 'List the images to see their names.' },
  'image/not-ready': { status: 409, hint: 'Wait until the image is ready.' },
  'image/exists': { status: 409, hint: 'Choose another name, or remove that image first.' },
  'image/in-use': { status: 409, hint: 'Delete the sandboxes created from it first.' },
  'image/source': { status: 400, hint: 'Use an image source that GET /v1/runtimes lists for the runtime.' },
  'image/failed': { status: 500, hint: 'Fix the problem named in the message, then add the image again.' },
  'snapshot/not-found': { status: 404, hint: 'List the snapshots of the sandbox to see their ids.' },
  'snapshot/too-many': { status: 429, hint: 'Delete a snapshot of this sandbox first.' },
  'snapshot/failed': { status: 500, hint: 'Try again. Nothing was changed.' },
  'exec/failed': {
    status: 500,
    hint: 'Check the effect of the command before you retry. It did not run, or its exit code is unknown.',
  },
  'file/not-found': { status: 404, hint: 'List the folder to see its files.' },
  'file/not-a-file': { status: 400, hint: 'Use the path of a regular file.' },
  'file/not-a-folder': { status: 400, hint: 'Use the path of a folder.' },
  'file/path': { status: 400, hint: 'Use an absolute path inside the sandbox, without `..`.' },
  'file/denied': { status: 403, hint: 'Use another path. This path cannot be changed in the sandbox.' },
  'file/no-space': { status: 507, hint: 'Free disk space in the sandbox, or create one with a larger disk.' },
  'file/exists': { status: 409, hint: 'Choose another name, or allow replacing the existing file.' },
  'file/cross-device': {
    formerCode: 'file/other-system',
    status: 409,
    hint: 'Copy it to the other file system, then remove the original.',
  },
  'file/not-empty': { status: 409, hint: 'Allow removing the folder with all its contents.' },
  'file/changed': { status: 409, hint: 'Read the file again. It has changed.' },
  'upload/not-found': { status: 404, hint: 'Start a new upload.' },
  'upload/too-many': { status: 429, hint: 'Complete or cancel an upload to this sandbox first.' },
  'upload/checksum': { status: 409, hint: 'Start a new upload. The received bytes differ from the sent bytes.' },
  'upload/offset': { status: 409, hint: "Get the upload's offset, and continue from there." },
  'file/too-large': { status: 413, hint: 'Copy the file in parts, with a command in the sandbox.' },
  'terminal/not-found': { status: 404, hint: 'List the terminals of the sandbox to see their ids.' },
  'terminal/exited': { status: 409, hint: 'Create a new terminal. This terminal is read-only.' },
  'terminal/input-full': {
    status: 409,
    hint: 'Wait until the program reads its input, or end the program, then try again.',
  },
  'terminal/too-many': { status: 429, hint: 'Close a terminal of this sandbox first.' },
  'terminal/too-slow': { status: 408, hint: 'Attach again, and acknowledge output as you process it.' },
  'terminal/failed': { status: 500, hint: 'Try again. If it keeps failing, restart the sandbox.' },
  'port/not-found': { status: 404, hint: 'List the ports of the sandbox to see which are exposed.' },
  'port/taken': { status: 409, hint: 'Choose another subdomain.' },
  'key/too-many': { status: 429, hint: 'Revoke an API key of this account first.' },
  'port/too-many': { status: 429, hint: 'Remove an exposed port of this sandbox first.' },
  'port/busy': { status: 503, hint: 'Close some connections to this sandbox, then try again.' },
  'port/stopped': { status: 503, hint: 'Start the sandbox, then reload.' },
  'port/no-server': {
    formerCode: 'port/silent',
    status: 502,
    hint: 'Start a server on this port in the sandbox, then reload.',
  },
  'port/failed': { status: 502, hint: 'Check the server in the sandbox, then try again.' },
  'port/timeout': {
    formerCode: 'port/late',
    status: 504,
    hint: 'Check the server in the sandbox. It accepted the request but did not respond.',
  },
  'key/model': { status: 403, hint: 'Use a model that this API key allows, or another API key.' },
  'credits/insufficient': { status: 402, hint: 'Add credits, or request fewer tokens, then try again.' },
  'credits/sandbox': { status: 402, hint: 'Add credits, or choose a smaller sandbox, then try again.' },
  'credits/daily-limit': { status: 402, hint: 'Wait until the next UTC day, or use a key with a higher limit.' },
  'credits/recipient-not-found': { status: 404, hint: 'Name a wallet that has signed in before, or an account id.' },
  'credits/transaction-not-found': { status: 404, hint: 'List the transactions with GET /v1/credits/history.' },
  'credits/refund': { status: 409, hint: 'Refund a smaller amount, or refund another charge.' },
  'credits/amount-too-large': { formerCode: 'credits/too-much', status: 400, hint: 'Use a smaller amount.' },
  'payments/required': {
    status: 402,
    hint: 'Pay one of the `accepts` options with x402, then send the request again with the payment.',
  },
  'payments/malformed': { status: 400, hint: 'Send base64-encoded x402 JSON for the scheme `exact`.' },
  'payments/wallet': { status: 403, hint: 'Pay with the wallet that you signed in with.' },
  'payments/in-flight': { status: 409, hint: 'Wait for the time in `Retry-After`, then send the same request again.' },
  'payments/used': { status: 409, hint: 'Sign a new authorization for a new request.' },
  'payments/unknown': { status: 503, hint: 'Send the same payment again after `Retry-After`. Do not sign a new one.' },
  'payments/unconfigured': { status: 503, hint: 'Ask the operator of this service to configure `payments`.' },
  'payments/tier': { status: 400, hint: 'List the amounts with GET /v1/credits/pricing.' },
  'payments/no-test-money': {
    status: 404,
    hint: 'Use another service for test money. This service accepts real payments or none.',
  },
  'purchase/not-found': {
    formerCode: 'payment/not-found',
    status: 404,
    hint: 'List the payments with GET /local/payments.',
  },
  'purchase/address': {
    formerCode: 'payment/address',
    status: 400,
    hint: 'Use an https address, or an http address on this computer.',
  },
  'purchase/seller': {
    formerCode: 'payment/seller',
    status: 502,
    hint: 'Nothing was paid. Check the address, or try again later.',
  },
  'purchase/offer': {
    formerCode: 'payment/offer',
    status: 409,
    hint: 'Nothing was paid. Ask the seller for payment terms that Steward supports.',
  },
  'purchase/allowance': {
    formerCode: 'payment/allowance',
    status: 409,
    hint: 'Nothing was paid. With a wallet that sends transactions, allow Permit2 (0x000000000022D473030F116dDEE9F6B43aC78BA3) to move USDC of the account.',
  },
  'purchase/price': { formerCode: 'payment/price', status: 409, hint: 'Nothing was paid. Check the price again.' },
  'purchase/over-maximum': {
    formerCode: 'payment/too-dear',
    status: 402,
    hint: 'Nothing was paid. Raise `max_amount_usd` or skip the purchase.',
  },
  'purchase/payee': {
    formerCode: 'payment/payee',
    status: 409,
    hint: 'Nothing was paid. If you trust the new payee, remove the old one first.',
  },
  'purchase/clock': {
    formerCode: 'payment/clock',
    status: 409,
    hint: 'Nothing was paid. Correct the clock of this computer, or report a wrong clock to the seller.',
  },
  'purchase/unknown-outcome': {
    formerCode: 'payment/open',
    status: 409,
    hint: 'Do not pay again until `approval_status` with the payment id reports that it was not paid.',
  },
  'purchase/order': {
    formerCode: 'payment/order',
    status: 502,
    hint: 'Check the payment in Steward before you order again.',
  },
  'purchase/denied': {
    formerCode: 'payment/denied',
    status: 403,
    hint: 'Nothing was paid. See the request under Approvals.',
  },
  'process/not-found': { status: 404, hint: 'List the processes of the sandbox to see their ids.' },
  'sandbox-domain/not-found': { status: 404, hint: 'List the domains of the sandbox to see their names.' },
  'sandbox-domain/too-many': { status: 429, hint: 'Remove a domain of this sandbox first.' },
  'sandbox-domain/taken': {
    status: 409,
    hint: 'Remove the domain from the other sandbox first, or choose another name.',
  },
  'domain/name': { status: 400, hint: 'Use a name such as example.com.' },
  'domain/not-found': { status: 404, hint: 'List the domains to see their names.' },
  'domain/taken': { status: 409, hint: 'Search for another name.' },
  'domain/state': { status: 409, hint: 'Wait until the domain is active, then try again.' },
  'domain/unsupported': {
    status: 409,
    hint: 'Choose another operation. The registrar of this domain does not support this one.',
  },
  'domain/quote': { status: 409, hint: 'Get a new quote with POST /domains/quotes.' },
  'rdap/list': { status: 502, hint: 'Nothing was changed. Try again, or use another URL.' },
  'domain/renewed': { status: 409, hint: 'Get the domain again to see when it expires.' },
  'domain/busy': { status: 409, hint: 'Wait for the other order to finish.' },
  'order/unknown-outcome': {
    formerCode: 'domain/unclear',
    status: 503,
    hint: 'Do not order the domain again. Steward keeps checking with the registrar.',
  },
  'domain/unknown-outcome': {
    formerCode: 'domain/unknown-change',
    status: 503,
    hint: 'Get the domain again to see whether the change took effect.',
  },
  'domain/registrar': { status: 503, hint: 'Nothing was changed. Try again in a moment.' },
  'dns/not-found': { status: 404, hint: 'List the DNS records to see their ids.' },
  'dns/conflict': { status: 409, hint: 'Change or delete the other record first.' },
  'dns/moved': { status: 409, hint: 'Review the changes again.' },
  'dns/plan-not-found': { status: 404, hint: 'Create a new plan.' },
  'dns/plan-state': { status: 409, hint: 'Create a new plan.' },
  'dns/unknown-outcome': {
    formerCode: 'dns/unclear',
    status: 503,
    hint: 'List the DNS records again to see whether the change took effect.',
  },
  'dns/too-many': { status: 429, hint: 'Delete a record of this domain first.' },
  'identity/hash': { status: 400, hint: 'Hash the canonical JSON: sorted keys, no spaces, addresses exactly as sent.' },
  'identity/signature': { status: 401, hint: 'Sign with the key of `automaton_address`.' },
  'identity/nonce-used': { status: 409, hint: 'Get a new nonce, and sign again.' },
  'identity/nonce-bound': { status: 403, hint: 'Get your own nonce with POST /v1/automatons/nonce.' },
  'identity/immutable': { status: 409, hint: 'Send the registered profile unchanged, or register another automaton.' },
  'identity/not-found': { status: 404, hint: 'List the automatons to see their ids.' },
  'registration/not-found': { status: 404, hint: 'List the registrations to see their ids.' },
  'registration/state': { status: 409, hint: 'Send only signed registrations again that did not arrive.' },
  'wallet/absent': { status: 409, hint: 'Create or import a wallet first.' },
  'wallet/locked': { status: 423, hint: 'Unlock the wallet in Steward and try again.' },
  'wallet/keychain-locked': { status: 423, hint: 'Unlock your system keychain and try again.' },
  'wallet/keychain-unavailable': { status: 503, hint: 'Start your system keychain and try again.' },
  'wallet/passphrase': { status: 403, hint: 'Check the passphrase. It is case-sensitive.' },
  'wallet/passphrase-weak': { status: 400, hint: 'Use at least 10 characters, for example four random words.' },
  'wallet/damaged': {
    status: 500,
    hint: 'Restore a backup, or import the recovery phrase again. Nothing was overwritten.',
  },
  'wallet/phrase': { status: 400, hint: 'Compare the words and their order with your written copy.' },
  'wallet/private-key': { status: 400, hint: 'Use 64 hexadecimal digits for an EVM key, or base58 for a Solana key.' },
  'wallet/keystore': { status: 400, hint: 'Choose a Keystore V3 file and enter its password.' },
  'wallet/duplicate': { status: 409, hint: 'Find the existing account in the wallet by its address.' },
  'wallet/account-not-found': { status: 404, hint: 'List the accounts with GET /local/wallet.' },
  'wallet/keyring-not-found': { status: 404, hint: 'List the recovery phrases and keys with GET /local/wallet.' },
  'wallet/confirmation': { status: 400, hint: 'Type the label exactly as shown.' },
  'wallet/failed': { status: 500, hint: 'Try again. Nothing was changed.' },
  'secure-prompt/ended': { formerCode: 'sheet/ended', status: 410, hint: 'Open the secure prompt again from Steward.' },
  'chain/unavailable': {
    status: 503,
    hint: 'Nothing was signed. Try again later, or set another RPC endpoint under `wallet.rpc`.',
  },
  'chain/unknown': { status: 400, hint: 'List the networks with GET /local/wallet/networks.' },
  'tool/unknown': { status: 404, hint: 'List the tools to see their names.' },
  'tool/profile': { status: 403, hint: 'Ask the user to select another profile for this client in Settings.' },
  'tool/denied': { status: 403, hint: 'Ask the user to allow it in Steward. Only the user can do this.' },
  'tool/revoked': { status: 401, hint: 'Ask the user to add a tool client in Settings.' },
  'tool/dry-run': { status: 403, hint: 'Ask the user to turn off dry run for this client in Settings.' },
  'tool/budget': {
    status: 402,
    hint: 'Ask the user to raise the budget of this client in Settings, or wait until the next UTC day.',
  },
  'tool/call-not-found': { status: 404, hint: 'Call the tool again. Calls are stored for one day.' },
  'tool/too-many': { status: 429, hint: 'Wait until some calls have ended.' },
  'tool/client-not-found': { status: 404, hint: 'List the tool clients to see their ids.' },
  'tool/too-many-clients': { status: 429, hint: 'Revoke a tool client first.' },
  'tool/program': { status: 400, hint: 'Correct the program and run it again.' },
  'tool-server/not-found': { status: 404, hint: 'List the servers with GET /local/tool-servers.' },
  'tool-server/exists': { status: 409, hint: 'Choose another name, or remove that server first.' },
  'tool-server/too-many': { status: 429, hint: 'Remove a server first.' },
  'tool-server/address': { status: 400, hint: 'Use an https address, or an http address on this computer.' },
  'tool-server/off': { status: 403, hint: 'Ask the user to turn on the server in Settings, Tool servers.' },
  'tool-server/changed': { status: 409, hint: 'Ask the user to review the change in Settings, Tool servers.' },
  'tool-server/unusable': {
    status: 409,
    hint: 'Report the problem to the developer of the server. It cannot be fixed in Steward.',
  },
  'tool-server/failed': { status: 502, hint: 'Test the server in Settings, Tool servers.' },
  'tool-server/answer': { status: 502, hint: 'Read the message of the server, and correct the call.' },
  'tool-server/secret-not-found': {
    status: 404,
    hint: 'List the secrets of each server with GET /local/tool-servers.',
  },
  'tool/unknown-outcome': {
    formerCode: 'tool/unclear',
    status: 500,
    hint: 'Check its effect before you call it again.',
  },
  'intent/not-found': { status: 404, hint: 'Submit a new request. Old requests are deleted.' },
  'intent/invalid': { status: 400, hint: 'Correct the named field, then submit the request again.' },
  'intent/decided': { status: 409, hint: 'Submit a new request if you still need it.' },
  'intent/denied': { status: 403, hint: 'Change the rule first to allow the request. You or your policy refused it.' },
  'intent/stopped': { status: 403, hint: 'Ask the user to resume in Steward. Only the user can do this.' },
  'intent/too-many': { status: 429, hint: 'Wait until some open requests are decided.' },
  'intent/confirmation': { status: 403, hint: 'Confirm the request in the dialog that Steward opens.' },
  'policy/confirmation': { status: 403, hint: 'Confirm the policy in the protected dialog that Steward opens.' },
  'grant/not-found': { status: 404, hint: 'List the grants to see their ids.' },
  'service/sign-in': {
    status: 503,
    hint: 'Create, import or unlock a wallet. Steward signs in to the service with it.',
  },
  'inference/request': { status: 400, hint: 'Correct the named field and send the request again.' },
  'inference/credential': { status: 401, hint: 'Use a Steward API key.' },
  'inference/forbidden': { status: 403, hint: 'Use a key that has permission to do this.' },
  'inference/model': { status: 404, hint: 'List the models with GET /v1/models.' },
  'inference/too-large': { status: 413, hint: 'Send less data per request.' },
  'inference/credits': { status: 402, hint: 'Add credits, or request fewer tokens.' },
  'inference/unconfigured': { status: 503, hint: 'Add a key for this provider in the settings.' },
  'inference/rate': { status: 429, hint: 'Wait for the time in `Retry-After`, then try again.' },
  'inference/overloaded': { status: 503, hint: 'Try again in a moment.' },
  'inference/provider-key': { status: 502, hint: 'Replace the key of this provider, then try again.' },
  'inference/upstream': { status: 502, hint: 'Try again. If it keeps failing, use another model.' },
  'inference/timeout': { status: 504, hint: 'Try again, or stream the response.' },
  'activity/task-not-found': {
    status: 404,
    hint: 'Choose a newer task. This one may have been removed by log retention.',
  },
  'recording/not-found': { status: 404, hint: 'List the recordings to see their ids.' },

  'chat/not-found': { status: 404, hint: 'List the conversations to see their ids.' },
  'chat/message-not-found': { status: 404, hint: 'Open the conversation again.' },
  'chat/folder-not-found': { status: 404, hint: 'List the folders to see their ids.' },
  'chat/prompt-not-found': { status: 404, hint: 'List the prompts to see their ids.' },
  'chat/attachment-not-found': { status: 404, hint: 'Attach the file again.' },
  'chat/attachment': { status: 415, hint: 'Use a PNG, JPEG, WebP or GIF image, or a UTF-8 text file.' },
  'chat/attachment-too-large': {
    status: 413,
    hint: 'Attach a smaller file. Images can have at most 20 MB, text files 1 MB.',
  },
  'chat/model': { status: 409, hint: 'Choose a model from the model list.' },
  'chat/message': { status: 409, hint: 'Open the conversation again to see its messages.' },
  'chat/too-long': { status: 413, hint: 'Shorten the message, or choose a model with a larger context.' },
  'chat/too-many': { status: 429, hint: 'Wait until some assistant messages are complete, or stop them.' },
  'chat/import': {
    status: 400,
    hint: 'Choose the JSON file of an export from ChatGPT, Claude, LibreChat or Open WebUI.',
  },
  'budget/exceeded': { status: 402, hint: 'Raise the limit, or wait until it resets.' },
  'provider-key/not-found': { status: 404, hint: 'List the providers that have a key with GET /local/providers.' },
  'provider-key/invalid': { status: 400, hint: 'Copy the whole key from the provider’s page, and paste it again.' },
  'provider-key/remote-service': {
    formerCode: 'provider-key/elsewhere',
    status: 409,
    hint: 'Ask the operator of the service to configure its providers.',
  },
  'provider-key/unreadable': { status: 500, hint: 'Enter the key again.' },
  'model-server/not-found': { status: 404, hint: 'List the servers with GET /local/model-servers.' },
  'model-server/exists': { status: 409, hint: 'Choose another name, or remove that server first.' },
  'model-server/too-many': { status: 409, hint: 'Remove a server first.' },
  'model-server/unreachable': {
    formerCode: 'model-server/silent',
    status: 502,
    hint: 'Start the server, check its address, and try again.',
  },
  'host/unavailable': { status: 503, hint: 'Try again in a moment. The sandbox host is restarting.' },
  'service/start-failed': { status: 503, hint: 'Fix the problem in the service log, then start Steward again.' },
  'service/unavailable': { status: 503, hint: 'Try again in a moment. The service is restarting.' },
  'command/usage': { status: 400, hint: 'Add --help to list all options.' },
  'config/invalid': { status: 500, hint: 'Fix the named key. docs/configuration.md lists all keys.' },
  'backup/failed': { status: 500, hint: 'Fix the problem in the message, then try again. Nothing was replaced.' },
  'data/damaged': { status: 500, hint: 'Restore a backup: `npm start -- restore DIR`. See docs/backup.md.' },
  'data/in-use': { status: 409, hint: 'Stop the other Steward first, or use another --data folder.' },
  'data/unavailable': {
    status: 503,
    hint: 'Wait for the number of seconds in `Retry-After`, then try again.',
  },
  'data/unusable': { status: 500, hint: 'Check that the data folder exists and that its permissions are correct.' },
  'data/unwritable': { status: 503, hint: 'Free disk space if the disk is full, then restart the service.' },
  'data/newer': { status: 500, hint: 'Use a newer version of Steward, or another --data folder.' },
  'listen/failed': { status: 500, hint: 'Choose another address with --listen HOST:PORT.' },
  'listen/insecure': {
    status: 500,
    hint: 'Configure TLS files, or use --insecure-behind-proxy if a proxy in front adds TLS.',
  },
  'internal/unexpected': { status: 500, hint: 'Try again. If it keeps failing, check the log and report it.' },
} as const

export type ErrorCode = keyof typeof errorCatalogue

export type ErrorEntry = { status: number; hint: string; formerCode?: string }

const currentCodes: ReadonlyMap<string, ErrorCode> = new Map(
  Object.entries<ErrorEntry>(errorCatalogue).flatMap(([code, { formerCode }]) =>
    formerCode === undefined ? [] : [[formerCode, code as ErrorCode]],
  ),
)

/** Body of every non-2xx response. Errors may add fields. */
export type ErrorBody = { error: string; code: ErrorCode; former_code?: string; detail?: string; hint?: string }

type AppErrorOptions = {
  cause?: unknown
  detail?: string
  retryAfterSeconds?: number
  /** Response headers. Names are in lower case. */
  headers?: Readonly<Record<string, string>>
  /**
   * Additional fields of the body. A standard name replaces that field, because some interfaces prescribe a different
   * format.
   */
  fields?: Readonly<Record<string, unknown>>
}

/** Expected error. `message` names the invalid value; the hint in the catalogue says what to do. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly detail: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.detail = options.detail
    this.retryAfterSeconds = options.retryAfterSeconds
    this.headers = options.headers ?? {}
    this.fields = options.fields ?? {}
  }

  get status(): number {
    return errorCatalogue[this.code].status
  }

  get hint(): string {
    return errorCatalogue[this.code].hint
  }

  toBody(): ErrorBody & Readonly<Record<string, unknown>> {
    const { formerCode }: ErrorEntry = errorCatalogue[this.code]
    return {
      error: this.message,
      code: this.code,
      ...(formerCode !== undefined && { former_code: formerCode }),
      ...(this.detail !== undefined && { detail: this.detail }),
      hint: this.hint,
      ...this.fields,
    }
  }
}

/**
 * Parses a code from another process, a service or a stored record. Former codes map to the current ones.
 * @returns the code, or undefined if it is unknown
 */
export function parseErrorCode(value: unknown): ErrorCode | undefined {
  if (typeof value !== 'string') return undefined
  return Object.hasOwn(errorCatalogue, value) ? (value as ErrorCode) : currentCodes.get(value)
}
