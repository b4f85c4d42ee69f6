import { type BrowserWindow, dialog, type MessageBoxOptions, Notification } from 'electron'
import type { ApprovalDialog } from '#agent/approvals/approvalDialog.ts'
import { formatRequester } from '#shared/contract/describeRequester.ts'
import { describeIntent } from '#shared/contract/intentHeadline.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'

type DialogOptions = {
  window: () => BrowserWindow | undefined
  /** Brings the window to the front, or opens one. */
  bringToFront: () => void
}

const buttons = ['Cancel', 'Approve'] as const
const maxLengths = { line: 300, notification: 200 } as const

/** Creates approval dialogs and notifications of the operating system, which pages cannot draw, press or hide. */
export function createNativeApprovals({ window, bringToFront }: DialogOptions): ApprovalDialog {
  // Retains references to notifications, because a garbage-collected one emits no click event.
  const openNotifications = new Set<Notification>()

  const isApproved = async (options: MessageBoxOptions, signal: AbortSignal): Promise<boolean> => {
    const parent = window()
    const { response } = await (parent ? dialog.showMessageBox(parent, options) : dialog.showMessageBox(options))
    return buttons[response] === 'Approve' && !signal.aborted
  }

  return {
    confirm(record, signal) {
      return isApproved(createMessageBox(record, signal), signal)
    },
    confirmPolicy({ title, sentence, lines }, signal) {
      const detail = lines.map(({ label, value }) => `${label}: ${toPlainText(value, maxLengths.line)}`)
      return isApproved(toMessageBoxOptions(`${title} ${sentence}`, detail, signal), signal)
    },
    announce(record, open) {
      if (window()?.isFocused() || !Notification.isSupported()) return
      const title = 'Approval required'
      const requester = toPlainText(`Requested by ${formatRequester(record.requester)}.`, maxLengths.notification)
      const notification = new Notification({
        title,
        body: `${toPlainText(describeIntent(record), maxLengths.notification)}\n${requester}`,
      })
      openNotifications.add(notification)
      notification.once('close', () => openNotifications.delete(notification))
      notification.once('click', () => {
        openNotifications.delete(notification)
        bringToFront()
        open()
      })
      notification.show()
    },
  }
}

function createMessageBox(record: IntentRecord, signal: AbortSignal): MessageBoxOptions {
  const { sentence, fields, requester, reason } = record
  const headline = describeIntent(record)
  const lines = [
    ...(headline === sentence ? [] : [toPlainText(sentence, maxLengths.line)]),
    `Requested by: ${toPlainText(formatRequester(requester), maxLengths.line)}`,
    ...(reason === null ? [] : [`Reason given (unverified): ${toPlainText(reason, maxLengths.line)}`]),
    ...fields.map(
      ({ label, value, kind }) => `${kind === 'warning' ? '⚠ ' : ''}${label}: ${toPlainText(value, maxLengths.line)}`,
    ),
  ]
  return toMessageBoxOptions(headline, lines, signal)
}

function toMessageBoxOptions(sentence: string, lines: readonly string[], signal: AbortSignal): MessageBoxOptions {
  return {
    type: 'warning',
    title: 'Steward',
    message: toPlainText(sentence, maxLengths.line),
    detail: lines.join('\n'),
    buttons: [...buttons],
    defaultId: 0,
    cancelId: 0,
    noLink: true,
    signal,
  }
}

/** Reduces text to one line without invisible characters, so that a requester cannot forge parts of the dialog. */
function toPlainText(text: string, length: number): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return line.length > length ? `${line.slice(0, length - 1).toWellFormed()}…` : line
}
