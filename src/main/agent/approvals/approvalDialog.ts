import type { IntentRecord } from '#shared/contract/intents.ts'
import type { ConfirmationText } from './describeConfirmation.ts'

/** Electron's native dialogs and notifications, which web content cannot draw. */
export interface ApprovalDialog {
  /** Shows the content to sign and asks the user. Closing the dialog by `signal` counts as a denial. */
  confirm(record: IntentRecord, signal: AbortSignal): Promise<boolean>
  /** Shows the permissions that a change would add. Closing the dialog by `signal` counts as a denial. */
  confirmPolicy(text: ConfirmationText, signal: AbortSignal): Promise<boolean>
  /** Notifies the user of a waiting intent. A click on the notification calls `open`. */
  announce(record: IntentRecord, open: () => void): void
}
