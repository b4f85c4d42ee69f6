import type { WalletVault } from '../wallet/walletVault.ts'
import type { Html } from './html.ts'

/** Page of a secure prompt with the handler of its form. */
export type SecurePromptStep = {
  show(context: RenderContext): SecurePromptView
  /**
   * @returns the next page
   * @throws AppError or WrongField to show the same page again with the error
   */
  take(form: SecurePromptForm): Promise<SecurePromptNext> | SecurePromptNext
  /** Returns the file of the button `Download`. */
  file?(): SecurePromptFile
}

export type SecurePromptNext = SecurePromptStep | 'done'
export type SecurePromptFile = { name: string; text: string }
export type SecurePromptView = { title: string; body: Html }

export type RenderContext = {
  problem: Problem | undefined
  /** Submitted fields without secrets. */
  form: SecurePromptForm
}

/** Returns a field of a form, or an empty string if it is missing. */
export type SecurePromptForm = (name: string) => string

export type Problem = { message: string; hint: string | undefined; field: string | undefined }

export type SecurePromptContext = {
  vault: WalletVault
  /** @throws AppError `wallet/passphrase-weak` */
  requireStrong: (text: string) => void
}

/** Flow of one secure prompt, from its first page to its end. */
export type SecurePromptFlow = {
  first: SecurePromptStep
  /** Overwrites all stored secrets. */
  forget(): void
}

/** Error of a field that has to be corrected. The message never contains the input. */
export class FieldError extends Error {
  readonly field: string
  constructor(field: string, message: string) {
    super(message)
    this.name = 'WrongField'
    this.field = field
  }
}
