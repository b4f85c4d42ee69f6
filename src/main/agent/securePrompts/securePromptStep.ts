import type { WalletVault } from '../wallet/walletVault.ts'
import type { Html } from './html.ts'

/** One page of a secure prompt, and what its form leads to. */
export type SecurePromptStep = {
  show(context: RenderContext): SecurePromptView
  /**
   * @returns the next page
   * @throws AppError or WrongField: the same page again, with what was wrong
   */
  take(form: SecurePromptForm): Promise<SecurePromptNext> | SecurePromptNext
  /** File of the button `Download`. */
  file?(): SecurePromptFile
}

export type SecurePromptNext = SecurePromptStep | 'done'
export type SecurePromptFile = { name: string; text: string }
export type SecurePromptView = { title: string; body: Html }

export type RenderContext = {
  problem: Problem | undefined
  /** Submitted fields that hold no secret. */
  form: SecurePromptForm
}

/** The fields of a form; what is not there is empty. */
export type SecurePromptForm = (name: string) => string

export type Problem = { message: string; hint: string | undefined; field: string | undefined }

/** Dependencies of the flows. */
export type SecurePromptTools = {
  vault: WalletVault
  /** @throws AppError `wallet/passphrase-weak` */
  requireStrong: (text: string) => void
}

/** A secure prompt of one purpose, from its first page to its end. */
export type SecurePromptFlow = {
  first: SecurePromptStep
  /** Overwrites every secret that it holds. */
  forget(): void
}

/** A field that has to be filled in otherwise. The message never holds what was in it. */
export class WrongField extends Error {
  readonly field: string
  constructor(field: string, message: string) {
    super(message)
    this.name = 'WrongField'
    this.field = field
  }
}
