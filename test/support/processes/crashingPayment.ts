import { writeSync } from 'node:fs'
import { ClientRequest } from 'node:http'
import SqliteDatabase from 'better-sqlite3'

/**
 * Runs an agent that prints the outcome of the last payment, pays, and kills itself before the `at`-th write of the
 * payment, or (`flushed`) when the response arrives, or (`sent`) after the request with the payment was sent. `never`
 * prints the number of writes.
 */
const [dataFolder = '', url = '', key = '', crashPoint = ''] = process.argv.slice(2)
const die = (): never => process.kill(process.pid, 'SIGKILL') as never
let writes = 0
let isPaying = false

const written =
  /^\s*(INSERT INTO|UPDATE|DELETE FROM) (payments|intents|payment_budget_entries|payment_payees|asked_once)\b/
const { prepare } = SqliteDatabase.prototype
SqliteDatabase.prototype.prepare = function (this: SqliteDatabase.Database, text: string) {
  const statement = prepare.call(this, text)
  if (!written.test(text)) return statement
  for (const name of ['run', 'get', 'all'] as const) {
    const original = statement[name].bind(statement) as (...parameters: unknown[]) => unknown
    statement[name] = ((...parameters: unknown[]) => {
      if (isPaying) {
        writes += 1
        if (String(writes) === crashPoint) die()
      }
      return original(...parameters)
    }) as never
  }
  return statement
} as typeof prepare

const { end } = ClientRequest.prototype
ClientRequest.prototype.end = function (this: ClientRequest, ...parameters: unknown[]) {
  const isPayment = isPaying && (this.hasHeader('payment-signature') || this.hasHeader('x-payment'))
  if (crashPoint === 'flushed' && isPayment) this.once('finish', () => this.once('response', die))
  if (crashPoint === 'sent' && isPayment) this.once('finish', die)
  return (end as (...all: unknown[]) => ClientRequest).apply(this, parameters)
} as typeof end

const { createRunningAgent } = await import('./runningAgent.ts')
const { passphrase } = await import('./payingAgent.ts')
const target = { url, key, certificate: undefined }
const agent = await createRunningAgent({ dataFolder, target, tellService: () => {} })
await agent.wallet.unlock(passphrase)
const [last] = (await agent.send('/local/payments?limit=1')).json.payments
const ended = last && (await agent.send(`/local/payments/${last.id}?wait_ms=30000`)).json
const { usdc } = (await agent.send('/local/wallet/info?network=eip155:31337')).json
const { balance_cents: credits } = (await agent.send('/v1/credits/balance')).json
const budget = (await agent.send('/local/payments/budgets')).json.states[0]
writeSync(
  1,
  `${JSON.stringify({ reason: ended?.reason, state: ended?.state, paid: ended?.paid, usdc, credits, held: budget })}\n`,
)
isPaying = true
await agent.send('/local/payments/topup', {
  body: { amount_usd: 5, reason: `crash ${crashPoint}`, wait_ms: 20_000 },
  headers: { 'idempotency-key': `crash ${crashPoint}` },
})
writeSync(1, `${writes}\n`)
process.exit(0)
