import { join } from 'node:path'
import { app, type BrowserWindow, dialog, powerMonitor, session } from 'electron'
import type { ApprovalDialog } from '#agent/approvals/approvalDialog.ts'
import { setApplicationMenu } from './applicationMenu.ts'
import { openMainWindow } from './mainWindow.ts'
import { nativeApprovals } from './nativeApprovals.ts'
import { limitContents, limitPermissions } from './webLimits.ts'

/** What the shell shows; it knows nothing else of it. */
export type ShownApp = {
  origin: string
  serviceUrl: string
  freshUrl(): string
  lockWallet(): void
  close(): Promise<void>
}

type Options = {
  dataFolder: string
  preloadFile: string
  iconFile: string
  start: (dialog: ApprovalDialog) => Promise<ShownApp>
  /** The window is there. */
  onReady: (shown: ShownApp, url: string) => void
  /** Words for a start that failed, and the exit code for it. */
  failure: (cause: unknown) => { text: string; exitCode: number }
}

/** Electron's life: one instance for a data folder, one window, and an orderly end. */
export async function runDesktop(options: Options): Promise<void> {
  app.setPath('userData', join(options.dataFolder, 'window'))
  app.enableSandbox()
  if (!app.requestSingleInstanceLock()) {
    app.exit(0) // the first instance was told, and comes to the front
    return
  }
  try {
    const held: Held = { window: undefined, open: () => {} }
    const approvals = nativeApprovals({ window: () => held.window, comeForward: () => comeForward(held) })
    const starting = options.start(approvals)
    starting.catch(() => {}) // awaited below, after Electron is ready
    await app.whenReady()
    const shown = await starting
    await show(shown, held, options).catch(async (cause: unknown) => {
      await shown.close()
      throw cause
    })
  } catch (cause) {
    const { text, exitCode } = options.failure(cause)
    dialog.showErrorBox('Steward cannot start', text)
    app.exit(exitCode)
  }
}

/** The one window, while there is one. */
type Held = { window: BrowserWindow | undefined; open: () => void }

function comeForward({ window, open }: Held): void {
  if (!window) {
    open()
    return
  }
  if (window.isMinimized()) window.restore()
  window.show()
  window.focus()
}

async function show(shown: ShownApp, held: Held, options: Options): Promise<void> {
  limitPermissions(session.defaultSession, shown.origin)
  limitContents(app, shown.origin)
  setApplicationMenu(shown.origin, process.platform)

  const open = async (url: string): Promise<void> => {
    const stateFile = join(options.dataFolder, 'window.json')
    held.window = await openMainWindow({ ...options, url, stateFile })
    held.window.once('closed', () => {
      held.window = undefined
    })
  }
  held.open = () => void open(shown.freshUrl())
  // Whoever wakes the machine may be somebody else.
  powerMonitor.on('lock-screen', shown.lockWallet)
  powerMonitor.on('suspend', shown.lockWallet)
  app.on('second-instance', () => {
    if (held.window?.isMinimized()) held.window.restore()
    held.window?.focus()
  })
  app.on('activate', () => {
    if (held.window === undefined) held.open()
  })
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit()
  })
  app.on('before-quit', endInOrder(shown))
  const url = shown.freshUrl()
  await open(url)
  options.onReady(shown, url)
}

/** Quitting waits until the service has ended and the data folder is free. */
function endInOrder(shown: ShownApp): (event: { preventDefault(): void }) => void {
  let ending = false
  return (event) => {
    event.preventDefault()
    if (ending) return
    ending = true
    shown.close().then(
      () => app.exit(0),
      () => app.exit(1),
    )
  }
}
