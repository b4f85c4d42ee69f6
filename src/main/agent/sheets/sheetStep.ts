import type { WalletVault } from '../wallet/walletVault.ts'
import type { Html } from './html.ts'

/** One page of a sheet, and what its form leads to. */
export type SheetStep = {
  show(context: RenderContext): SheetView
  /**
   * @returns the next page
   * @throws AppError or WrongField: the same page again, with what was wrong
   */
  take(form: SheetForm): Promise<SheetNext> | SheetNext
  /** File of the button `Download`. */
  file?(): SheetFile
}

export type SheetNext = SheetStep | 'done'
export type SheetFile = { name: string; text: string }
export type SheetView = { title: string; body: Html }

export type RenderContext = {
  problem: Problem | undefined
  /** Submitted fields that hold no secret. */
  form: SheetForm
}

/** The fields of a form; what is not there is empty. */
export type SheetForm = (name: string) => string

export type Problem = { message: string; hint: string | undefined; field: string | undefined }

/** Dependencies of the flows. */
export type SheetTools = {
  vault: WalletVault
  /** @throws AppError `wallet/passphrase-weak` */
  requireStrong: (text: string) => void
}

/** A sheet of one purpose, from its first page to its end. */
export type SheetFlow = {
  first: SheetStep
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
