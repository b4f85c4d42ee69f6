import { Label } from '#shared/contract/wallet.ts'
import { FieldError, type SecurePromptForm } from '../securePromptStep.ts'

export const labelTexts = { name: 'label', label: 'Label (optional)', maxCharacters: 64 } as const

/** @throws WrongField */
export function readLabel(form: SecurePromptForm): string | undefined {
  const text = form(labelTexts.name).trim()
  if (text === '') return undefined
  const { data, error } = Label.safeParse(text)
  if (data !== undefined) return data
  throw new FieldError(labelTexts.name, `The label ${error?.issues[0]?.message ?? 'is not valid'}.`)
}
