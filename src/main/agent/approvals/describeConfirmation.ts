import { describeRule } from '#shared/contract/intentLabels.ts'
import type { Policy } from '#shared/contract/intents.ts'
import { formatUsd } from '#shared/money/moneyText.ts'

type Rules = Omit<Policy, 'stopped'>

/** Loosening of the policy, shown to the user outside the window. */
export type ConfirmationText = {
  /** Question to the user. */
  title: string
  sentence: string
  lines: readonly { label: string; value: string }[]
}

export const resumeConfirmation: ConfirmationText = {
  title: 'Resume?',
  sentence: 'Signing, payments, tools and models resume under your policies.',
  lines: [],
}

export function describeConfirmation(from: Rules, to: Rules): ConfirmationText {
  const { added, removed, isMoved } = diffRules(from, to)
  const [before, after] = [confirmAbove(from), confirmAbove(to)]
  return {
    title: 'Change your policies?',
    sentence: 'This allows more than before.',
    lines: [
      ...(before === after ? [] : [{ label: 'Extra confirmation', value: `above ${after}, was above ${before}` }]),
      ...added.map(({ position, sentence }) => ({ label: `New rule ${position}`, value: sentence })),
      ...removed.map((sentence) => ({ label: 'Removed rule', value: sentence })),
      ...(isMoved ? [{ label: 'Order', value: 'Rules apply in a different order.' }] : []),
    ],
  }
}

const maxChanges = 3

/**
 * Describes a policy change: `You changed the policy: added “Anyone may pay up to $2.00 at shop.example without asking
 * you”.`
 */
export function describePolicyChange(from: Rules, to: Rules): string {
  const { added, removed, isMoved } = diffRules(from, to)
  const quote = (sentence: string) => `“${sentence.replace(/[.]$/, '')}”`
  const changes = [
    ...added.map(({ sentence }) => `added ${quote(sentence)}`),
    ...removed.map((sentence) => `removed ${quote(sentence)}`),
    ...(isMoved ? ['changed the order of the rules'] : []),
    ...(confirmAbove(from) === confirmAbove(to) ? [] : [`extra confirmation is now above ${confirmAbove(to)}`]),
    ...(from.expiry_minutes === to.expiry_minutes
      ? []
      : [`requests now expire after ${formatMinutes(to.expiry_minutes)}`]),
  ]
  const more = changes.length - maxChanges
  const rest = more > 0 ? [`${more} more ${more === 1 ? 'change' : 'changes'}`] : []
  const text = [...changes.slice(0, maxChanges), ...rest].join(', ')
  return text === '' ? 'You saved the policy without changes.' : `You changed the policy: ${text}.`
}

function diffRules(from: Rules, to: Rules) {
  const [before, after] = [from.rules.map(describeRule), to.rules.map(describeRule)]
  const added = after.flatMap((sentence, index) =>
    before.includes(sentence) ? [] : [{ position: index + 1, sentence }],
  )
  const removed = before.filter((sentence) => !after.includes(sentence))
  const isMoved = before.filter((it) => after.includes(it)).join() !== after.filter((it) => before.includes(it)).join()
  return { added, removed, isMoved }
}

function confirmAbove({ confirm_above_micro_usd: above }: Rules): string {
  return formatUsd(above, 'exact')
}

function formatMinutes(count: number): string {
  return count === 1 ? '1 minute' : `${count} minutes`
}
