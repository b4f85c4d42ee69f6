import { writeSync } from 'node:fs'
import { ClientRequest } from 'node:http'
import SqliteDatabase from 'better-sqlite3'
import { until } from '../assertions/eventually.ts'

/**
 * Runs an agent that finishes the previous run's renewal, prints its outcome and enables auto-renew of the next domain.
 * The agent kills itself before the `at`-th write of that renewal, or (`flushed`) when the payment response arrives, or
 * (`sent`) after the request with the payment was sent. `never` prints the number of writes.
 */
const [dataFolder = '', url = '', key = '', crashPoint = '', before = '', next = ''] = process.argv.slice(2)
const die = (): never => process.kill(process.pid, 'SIGKILL') as never
let writes = 0
let isRenewing = false

const written =
  /^\s*(INSERT( OR REPLACE)? INTO|UPDATE|DELETE FROM) (payments|intents|payment_budget_entries|domain_renewals|domain_renewal_turns)\b/
const { prepare } = SqliteDatabase.prototype
SqliteDatabase.prototype.prepare = function (this: SqliteDatabase.Database, text: string) {
  const statement = prepare.call(this, text)
  if (!written.test(text)) return statement
  for (const name of ['run', 'get', 'all'] as const) {
    const original = statement[name].bind(statement) as (...parameters: unknown[]) => unknown
    statement[name] = ((...parameters: unknown[]) => {
      if (isRenewing) {
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
  const isPayment = isRenewing && (this.hasHeader('payment-signature') || this.hasHeader('x-payment'))
  if (crashPoint === 'flushed' && isPayment) this.once('finish', () => this.once('response', die))
  if (crashPoint === 'sent' && isPayment) this.once('finish', die)
  return (end as (...all: unknown[]) => ClientRequest).apply(this, parameters)
} as typeof end

const { createRunningAgent } = await import('./runningAgent.ts')
const { passphrase } = await import('./payingAgent.ts')
const agent = await createRunningAgent({
  dataFolder,
  target: { url, key, certificate: undefined },
  tellService: () => {},
})
await agent.wallet.unlock(passphrase)
const settings = { enabled: true, max_micro_usd: 20_000_000 }
const set = (domain: string) => agent.send(`/local/domains/${domain}/renewal`, { method: 'PUT', body: settings })
const year = async (domain: string) => Number((await agent.send(`/v1/domains/${domain}`)).json.expires_at?.slice(0, 4))
const thisYear = new Date(Date.now() + 10 * 24 * 3600 * 1000).getUTCFullYear()
const listPayments = async (domain: string): Promise<{ paid: boolean | null }[]> =>
  (await agent.send(`/local/payments?search=${domain}`)).json.payments
const isRenewed = (domain: string) =>
  until(`${domain} is renewed`, async () => {
    await agent.send(`/local/domains/${domain}/renewal/retry`, { method: 'POST', body: {} })
    const { renewals = [] } = (await agent.send('/local/domains/renewals')).json
    const state = renewals.find((it: { domain: string }) => it.domain === domain)?.state
    const isOpen = (await listPayments(domain)).some(({ paid }) => paid === null)
    return state === 'planned' && !isOpen && (await year(domain)) > thisYear
  })

await until('the domains are known', async () => {
  const { domains = [] } = (await agent.send('/local/domains')).json
  return domains.some((it: { domain: string }) => it.domain === next)
})
let payment = {}
if (before !== '') {
  // The setting may not have been stored before the crash.
  await set(before)
  await isRenewed(before)
  const payments = await listPayments(before)
  payment = {
    years: (await year(before)) - thisYear,
    paid: payments.filter(({ paid }) => paid === true).length,
    open: payments.filter(({ paid }) => paid === null).length,
  }
}
const { usdc } = (await agent.send('/local/wallet/info?network=eip155:31337')).json
const { held_micro_usd: held } = (await agent.send('/local/payments/budgets')).json.states[0]
writeSync(1, `${JSON.stringify({ ...payment, usdc, held })}\n`)
isRenewing = true
await set(next)
await isRenewed(next)
writeSync(1, `${writes}\n`)
process.exit(0)
