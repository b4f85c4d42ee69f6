import type { ChatParameters, Conversation, SpendLimits } from '#shared/contract/chats.ts'
import { type ChatTools, chatToolLimits } from '#shared/contract/chatTools.ts'
import { formatUsdInput, parseUsd } from '#shared/money/moneyText.ts'

/** Settings of a conversation as field values. An empty field means the provider's default, or no limit. */
export type SettingsDraft = {
  systemPrompt: string
  temperature: string
  topP: string
  maxTokens: string
  effort: NonNullable<ChatParameters['reasoning_effort']> | 'default'
  stop: string
  seed: string
  ownLimits: boolean
  limits: LimitsDraft
  tools: ToolsDraft
}
export type ToolsDraft = Pick<ChatTools, 'enabled' | 'profile'> & {
  /** Empty for no sandbox. */
  sandboxId: string
  steps: string
  turn: string
  day: string
}
export type LimitsDraft = { soft: string; hard: string }

export function toSettingsDraft({
  system_prompt: systemPrompt,
  parameters,
  limits,
  tools,
}: Conversation): SettingsDraft {
  return {
    systemPrompt,
    temperature: formatNumberField(parameters.temperature),
    topP: formatNumberField(parameters.top_p),
    maxTokens: formatNumberField(parameters.max_tokens),
    effort: parameters.reasoning_effort ?? 'default',
    stop: (parameters.stop ?? []).join('\n'),
    seed: formatNumberField(parameters.seed),
    ownLimits: limits !== null,
    limits: toLimitsDraft(limits),
    tools: {
      enabled: tools.enabled,
      profile: tools.profile,
      sandboxId: tools.sandbox_id ?? '',
      steps: String(tools.max_steps),
      turn: formatAmountField(tools.max_turn_micro_usd),
      day: formatAmountField(tools.max_day_micro_usd),
    },
  }
}

export function toLimitsDraft(limits: SpendLimits | null | undefined): LimitsDraft {
  return { soft: formatAmountField(limits?.soft_micro_usd), hard: formatAmountField(limits?.hard_micro_usd) }
}

export type Faults = Partial<
  Record<'temperature' | 'topP' | 'maxTokens' | 'stop' | 'seed' | 'soft' | 'hard' | 'steps' | 'turn' | 'day', string>
>

export function validateDraft(draft: SettingsDraft): Faults {
  return {
    ...toFault('temperature', isWithin(draft.temperature, 0, 2), 'Use 0 to 2.'),
    ...toFault('topP', isWithin(draft.topP, 0, 1), 'Use 0 to 1.'),
    ...toFault('maxTokens', isWhole(draft.maxTokens, 1), 'Use a whole number from 1.'),
    ...toFault('seed', isWhole(draft.seed, 0), 'Use a whole number.'),
    ...toFault('stop', parseStopSequences(draft.stop).length <= 4, 'Use at most 4 lines.'),
    ...(draft.ownLimits ? limitFaults(draft.limits) : {}),
    ...(draft.tools.enabled ? validateTools(draft.tools) : {}),
  }
}

export function limitFaults({ soft, hard }: LimitsDraft): Pick<Faults, 'soft' | 'hard'> {
  const isAmount = (text: string) => text.trim() === '' || parseUsd(text) !== undefined
  const [low, high] = [parseAmountField(soft), parseAmountField(hard)]
  return {
    ...toFault('soft', isAmount(soft), 'Enter dollars, such as 0.50.'),
    ...toFault('hard', isAmount(hard), 'Enter dollars, such as 2.'),
    ...(low !== null && high !== null && low > high ? { soft: 'Must not be above the hard limit.' } : {}),
  }
}

function validateTools({ steps, turn, day }: ToolsDraft): Faults {
  const { min, max } = chatToolLimits.steps
  const isCount = steps.trim() === '' || (isWhole(steps, min) && Number(steps) <= max)
  const isAmount = (text: string) => text.trim() === '' || parseUsd(text) !== undefined
  return {
    ...toFault('steps', isCount, `Use ${min} to ${max}.`),
    ...toFault('turn', isAmount(turn), 'Enter dollars.'),
    ...toFault('day', isAmount(day), 'Enter dollars.'),
  }
}

function toChatTools({ enabled, profile, sandboxId, steps, turn, day }: ToolsDraft): Partial<ChatTools> {
  if (!enabled) return { enabled }
  return {
    enabled,
    profile,
    sandbox_id: sandboxId === '' ? null : sandboxId,
    max_steps: parseNumberField(steps) ?? chatToolLimits.steps.default,
    max_turn_micro_usd: parseAmountField(turn),
    max_day_micro_usd: parseAmountField(day),
  }
}

export function toSpendLimits({ soft, hard }: LimitsDraft): SpendLimits {
  return { soft_micro_usd: parseAmountField(soft), hard_micro_usd: parseAmountField(hard) }
}

/** Builds the request from a valid draft. */
export function toConversationChanges(draft: SettingsDraft) {
  const stop = parseStopSequences(draft.stop)
  const parameters: ChatParameters = {
    temperature: parseNumberField(draft.temperature),
    top_p: parseNumberField(draft.topP),
    max_tokens: parseNumberField(draft.maxTokens),
    reasoning_effort: draft.effort === 'default' ? null : draft.effort,
    stop: stop.length === 0 ? null : stop,
    seed: parseNumberField(draft.seed),
  }
  return {
    system_prompt: draft.systemPrompt,
    parameters,
    limits: draft.ownLimits ? toSpendLimits(draft.limits) : null,
    tools: toChatTools(draft.tools),
  }
}

function toFault(field: keyof Faults, isRight: boolean, words: string): Faults {
  return isRight ? {} : { [field]: words }
}

function formatNumberField(value: number | null): string {
  return value === null ? '' : String(value)
}

function parseNumberField(text: string): number | null {
  return text.trim() === '' ? null : Number(text)
}

function formatAmountField(microUsd: number | null | undefined): string {
  return microUsd === null || microUsd === undefined ? '' : formatUsdInput(String(microUsd))
}

function parseAmountField(text: string): number | null {
  const amount = parseUsd(text)
  return amount === undefined ? null : Number(amount)
}

function isWithin(text: string, min: number, max: number): boolean {
  const value = parseNumberField(text)
  return value === null || (/^\s*\d*\.?\d+\s*$/.test(text) && value >= min && value <= max)
}

function isWhole(text: string, min: number): boolean {
  return text.trim() === '' || (/^\s*\d{1,9}\s*$/.test(text) && Number(text) >= min)
}

function parseStopSequences(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}
