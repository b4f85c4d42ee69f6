import { BrowserWindow, dialog, nativeTheme } from 'electron'
import { restoreWindowState, saveWindowState } from './windowState.ts'

type Options = {
  /** Used only for one window, because it can open the user's session only once. */
  url: string
  preloadFile: string
  iconFile: string
  stateFile: string
}

/** Background until the first paint, to prevent a flash. Equals `canvas` in `palette.css`. */
const canvas = { dark: '#101113', light: '#ffffff' } as const
const minWindowSize = { width: 480, height: 360 } as const

/**
 * Opens the window according to Electron's security checklist.
 * @see https://www.electronjs.org/docs/latest/tutorial/security
 */
export async function openMainWindow({ url, preloadFile, iconFile, stateFile }: Options): Promise<BrowserWindow> {
  const state = restoreWindowState(stateFile)
  const window = new BrowserWindow({
    ...state.bounds,
    minWidth: minWindowSize.width,
    minHeight: minWindowSize.height,
    title: 'Steward',
    icon: iconFile,
    show: false,
    backgroundColor: getCanvasColor(),
    autoHideMenuBar: true,
    webPreferences: {
      preload: preloadFile,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      experimentalFeatures: false,
      webviewTag: false,
      navigateOnDragDrop: false,
      spellcheck: false,
    },
  })
  saveWindowState(window, stateFile)
  const followTheme = () => window.setBackgroundColor(getCanvasColor())
  nativeTheme.on('updated', followTheme)
  window.once('closed', () => nativeTheme.off('updated', followTheme))
  window.once('ready-to-show', () => {
    if (state.maximized) window.maximize()
    window.show()
  })
  // A browser would ask the user. Electron would silently leave the window open.
  window.webContents.on('will-prevent-unload', (event) => {
    if (confirmClose(window)) event.preventDefault()
  })
  await window.loadURL(url)
  return window
}

function confirmClose(window: BrowserWindow): boolean {
  const pressed = dialog.showMessageBoxSync(window, {
    type: 'question',
    title: 'Steward',
    message: 'Leave without saving?',
    detail: 'Your unsaved changes are lost.',
    buttons: ['Stay', 'Leave'],
    defaultId: 0,
    cancelId: 0,
    noLink: true,
  })
  return pressed === 1
}

function getCanvasColor(): string {
  return nativeTheme.shouldUseDarkColors ? canvas.dark : canvas.light
}
