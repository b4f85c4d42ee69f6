import { PaymentBudgetLimits } from '#shared/contract/paymentBudgets.ts'
import { formatUsdInput, parseUsd } from '#shared/money/moneyText.ts'

/** Field values. An empty amount means no limit. */
export type LimitsForm = {
  payment: string
  day: string
  month: string
  hosts: readonly NamedLimit[]
  payees: readonly NamedLimit[]
  /** Separated by commas or spaces. */
  localServers: string
  asksFirst: boolean
}
/** `key` identifies the row while its name is edited. */
export type NamedLimit = { key: string; name: string; amount: string }

export function toLimitsForm(limits: PaymentBudgetLimits): LimitsForm {
  const field = (micro: number | null) => (micro === null ? '' : formatUsdInput(String(micro)))
  const named = (name: string, micro: number): NamedLimit => ({ key: name, name, amount: field(micro) })
  return {
    payment: field(limits.payment_micro_usd),
    day: field(limits.day_micro_usd),
    month: field(limits.month_micro_usd),
    hosts: limits.hosts.map((host) => named(host.host, host.month_micro_usd)),
    payees: limits.payees.map((payee) => named(payee.payee, payee.month_micro_usd)),
    localServers: limits.local_servers.join(', '),
    asksFirst: limits.ask_first_payee,
  }
}

export type LimitsFault = { field: string; message: string }

const amountDemand = 'Enter dollars, such as 25 or 0.50.'

/** Returns the parsed limits, or the errors by field. Rows without name and amount are ignored. */
export function parseLimitsForm(form: LimitsForm): { limits: PaymentBudgetLimits } | { faults: LimitsFault[] } {
  const faults: LimitsFault[] = []
  const amount = (field: string, text: string): number => {
    const micro = Number(parseUsd(text))
    if (Number.isSafeInteger(micro) && text.trim() !== '') return micro
    faults.push({ field, message: amountDemand })
    return 0
  }
  const optional = (field: string, text: string) => (text.trim() === '' ? null : amount(field, text))
  const rows = (all: readonly NamedLimit[]) => all.filter(({ name, amount: text }) => `${name}${text}`.trim() !== '')
  const written = {
    payment_micro_usd: optional('payment', form.payment),
    day_micro_usd: optional('day', form.day),
    month_micro_usd: optional('month', form.month),
    hosts: rows(form.hosts).map((namedLimit) => ({
      host: namedLimit.name,
      month_micro_usd: amount(`${namedLimit.key} amount`, namedLimit.amount),
    })),
    payees: rows(form.payees).map((namedLimit) => ({
      payee: namedLimit.name,
      month_micro_usd: amount(`${namedLimit.key} amount`, namedLimit.amount),
    })),
    local_servers: form.localServers.split(/[\s,]+/).filter((it) => it !== ''),
    ask_first_payee: form.asksFirst,
  }
  const parsed = PaymentBudgetLimits.safeParse(written)
  if (parsed.success) return faults.length > 0 ? { faults } : { limits: parsed.data }
  const named = { hosts: rows(form.hosts), payees: rows(form.payees) }
  for (const { path, message } of parsed.error.issues) {
    const [list, at] = path
    const row = (list === 'hosts' || list === 'payees') && typeof at === 'number' ? named[list][at] : undefined
    const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
    faults.push({ field: row ? `${row.key} name` : String(list), message: text })
  }
  return { faults }
}
