import type { IntentRecord } from '#shared/contract/intents.ts'
import type { ConfirmationText } from './describeConfirmation.ts'

/** Electron's native dialogs and notifications, which web content cannot draw. */
export interface ApprovalDialog {
  /** Shows what would be signed and asks the person. Its closing by `signal` is a no. */
  confirm(record: IntentRecord, signal: AbortSignal): Promise<boolean>
  /** Shows what would be allowed from then on. Its closing by `signal` is a no. */
  confirmPolicy(words: ConfirmationText, signal: AbortSignal): Promise<boolean>
  /** Notifies the user of a waiting intent; clicking the notification calls `open`. */
  announce(record: IntentRecord, open: () => void): void
}
