import { join } from 'node:path'
import { app, type BrowserWindow, dialog, powerMonitor, session } from 'electron'
import type { ApprovalDialog } from '#agent/approvals/approvalDialog.ts'
import { setApplicationMenu } from './applicationMenu.ts'
import { openMainWindow } from './mainWindow.ts'
import { createNativeApprovals } from './nativeApprovals.ts'
import { restrictPermissions, restrictWebContents } from './webSecurity.ts'

export type RunningApp = {
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
  start: (dialog: ApprovalDialog) => Promise<RunningApp>
  /** Called when the window is open. */
  onReady: (app: RunningApp, url: string) => void
  /** Returns a message for a failed start, and the exit code. */
  failure: (cause: unknown) => { text: string; exitCode: number }
}

/** Runs the Electron app: one instance per data folder, one window, and an orderly shutdown. */
export async function runDesktop(options: Options): Promise<void> {
  app.setPath('userData', join(options.dataFolder, 'window'))
  app.enableSandbox()
  if (!app.requestSingleInstanceLock()) {
    app.exit(0) // the first instance is notified and takes the focus
    return
  }
  try {
    const state: WindowHolder = { window: undefined, open: () => {} }
    const approvals = createNativeApprovals({ window: () => state.window, bringToFront: () => bringToFront(state) })
    const starting = options.start(approvals)
    starting.catch(() => {}) // awaited below, once Electron is ready
    await app.whenReady()
    const running = await starting
    await show(running, state, options).catch(async (cause: unknown) => {
      await running.close()
      throw cause
    })
  } catch (cause) {
    const { text, exitCode } = options.failure(cause)
    dialog.showErrorBox('Steward cannot start', text)
    app.exit(exitCode)
  }
}

type WindowHolder = { window: BrowserWindow | undefined; open: () => void }

function bringToFront({ window, open }: WindowHolder): void {
  if (!window) {
    open()
    return
  }
  if (window.isMinimized()) window.restore()
  window.show()
  window.focus()
}

async function show(running: RunningApp, holder: WindowHolder, options: Options): Promise<void> {
  restrictPermissions(session.defaultSession, running.origin)
  restrictWebContents(app, running.origin)
  setApplicationMenu(running.origin, process.platform)

  const open = async (url: string): Promise<void> => {
    const stateFile = join(options.dataFolder, 'window.json')
    holder.window = await openMainWindow({ ...options, url, stateFile })
    holder.window.once('closed', () => {
      holder.window = undefined
    })
  }
  holder.open = () => void open(running.freshUrl())
  // Locks the wallet, because a different person may unlock or wake the computer.
  powerMonitor.on('lock-screen', running.lockWallet)
  powerMonitor.on('suspend', running.lockWallet)
  app.on('second-instance', () => {
    if (holder.window?.isMinimized()) holder.window.restore()
    holder.window?.focus()
  })
  app.on('activate', () => {
    if (holder.window === undefined) holder.open()
  })
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit()
  })
  app.on('before-quit', createQuitHandler(running))
  const url = running.freshUrl()
  await open(url)
  options.onReady(running, url)
}

/** Delays quitting until the service has ended and the data folder is released. */
function createQuitHandler(running: RunningApp): (event: { preventDefault(): void }) => void {
  let ending = false
  return (event) => {
    event.preventDefault()
    if (ending) return
    ending = true
    running.close().then(
      () => app.exit(0),
      () => app.exit(1),
    )
  }
}
