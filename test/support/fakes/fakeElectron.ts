import { EventEmitter } from 'node:events'
import type {
  BrowserWindowConstructorOptions,
  MenuItemConstructorOptions,
  MessageBoxOptions,
  PermissionCheckHandlerHandlerDetails,
} from 'electron'

/**
 * Strict fake of Electron that throws on everything the shell does not use. Tests read the shell's calls from
 * `electronState`, and simulate the user and Chromium with `electronPlay`.
 */
type Answer = (granted: boolean) => void
type WindowOpen = (details: { url: string }) => { action: 'allow' | 'deny' }

export const electronState = {
  windows: [] as FakeWindow[],
  menus: [] as MenuItemConstructorOptions[][],
  openedOutside: [] as string[],
  errorBoxes: [] as { title: string; text: string }[],
  messageBoxes: [] as { hasParent: boolean; options: MessageBoxOptions }[],
  notifications: [] as FakeNotification[],
  exitCodes: [] as number[],
  paths: {} as Record<string, string>,
  sandboxEnabled: false,
  askedForOnlyInstance: false,
}

export const electronPlay = {
  /** Button that the user presses in a message box. If undefined, the box stays open until it is closed. */
  pressed: undefined as number | undefined,
  canNotify: true,
  /** Whether this is the only instance. Set before the shell starts. */
  isOnlyInstance: true,
  displays: [{ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }],
  requestPermission: (permission: string, requestingUrl: string): Promise<boolean> =>
    new Promise((resolve) => permissions.request?.(null, permission, resolve, { requestingUrl })),
  checkPermission: (permission: string, origin: string): boolean | undefined =>
    permissions.check?.(null, permission, origin, { isMainFrame: true }),
  allowDevice: (): boolean | undefined => permissions.device?.(),
}

const permissions: {
  request?: (contents: null, permission: string, answer: Answer, details: { requestingUrl: string }) => void
  check?: (contents: null, permission: string, origin: string, details: PermissionCheckHandlerHandlerDetails) => boolean
  device?: () => boolean
} = {}

/** Cancelable event, like Electron's. */
export class FakeEvent {
  readonly url: string
  readonly isMainFrame: boolean
  prevented = false
  constructor(url = '', isMainFrame = true) {
    this.url = url
    this.isMainFrame = isMainFrame
  }
  preventDefault(): void {
    this.prevented = true
  }
}

export class FakeContents extends EventEmitter {
  openHandler: WindowOpen | undefined
  setWindowOpenHandler(handler: WindowOpen): void {
    this.openHandler = handler
  }
}

export class FakeWindow extends EventEmitter {
  readonly options: BrowserWindowConstructorOptions
  readonly webContents = strict('webContents', new FakeContents())
  readonly urls: string[] = []
  background: string
  shown = false
  focused = 0
  hasFocus = true
  maximized = false
  minimized = false
  bounds = { x: 10, y: 20, width: 900, height: 700 }
  constructor(options: BrowserWindowConstructorOptions) {
    super()
    this.options = options
    this.background = options.backgroundColor ?? ''
    electronState.windows.push(this)
    app.emit('web-contents-created', new FakeEvent(), this.webContents)
  }
  async loadURL(url: string): Promise<void> {
    this.urls.push(url)
    this.emit('ready-to-show')
  }
  setBackgroundColor(color: string): void {
    this.background = color
  }
  show(): void {
    this.shown = true
  }
  maximize(): void {
    this.maximized = true
  }
  isMaximized(): boolean {
    return this.maximized
  }
  isMinimized(): boolean {
    return this.minimized
  }
  restore(): void {
    this.minimized = false
  }
  focus(): void {
    this.focused++
    this.hasFocus = true
  }
  isFocused(): boolean {
    return this.hasFocus
  }
  getNormalBounds() {
    return this.bounds
  }
  /** Simulates the user closing the window. */
  close(): void {
    this.emit('close', new FakeEvent())
    this.emit('closed')
    app.emit('window-all-closed')
  }
}

export class FakeNotification extends EventEmitter {
  static isSupported(): boolean {
    return electronPlay.canNotify
  }
  readonly options: { title: string; body: string }
  constructor(options: { title: string; body: string }) {
    super()
    this.options = options
  }
  show(): void {
    electronState.notifications.push(this)
  }
}

class FakeApp extends EventEmitter {
  readonly isPackaged = false
  setPath(name: string, path: string): void {
    electronState.paths[name] = path
  }
  enableSandbox(): void {
    electronState.sandboxEnabled = true
  }
  requestSingleInstanceLock(): boolean {
    electronState.askedForOnlyInstance = true
    return electronPlay.isOnlyInstance
  }
  async whenReady(): Promise<void> {}
  quit(): void {
    const event = new FakeEvent()
    this.emit('before-quit', event)
    if (!event.prevented) this.exit(0)
  }
  exit(code: number): void {
    electronState.exitCodes.push(code)
  }
}

class FakeTheme extends EventEmitter {
  shouldUseDarkColors = false
}

/** Throws on missing properties, so that no use of Electron goes unnoticed. */
function strict<T extends object>(name: string, fake: T): T {
  return new Proxy(fake, {
    get(target, property, receiver) {
      // Promises and the test runner read these properties of every value.
      const looked = property === 'then' || property === 'toJSON' || property === 'asymmetricMatch'
      if (typeof property === 'string' && !looked && !(property in target)) {
        throw new Error(`The Electron fake has no ${name}.${property}.`)
      }
      return Reflect.get(target, property, receiver)
    },
  })
}

export const app = strict('app', new FakeApp())
export const nativeTheme = strict('nativeTheme', new FakeTheme())
export const BrowserWindow = new Proxy(FakeWindow, {
  construct: (target, [options]) => strict('BrowserWindow', new target(options)),
})
export const Notification = FakeNotification
export const powerMonitor = strict('powerMonitor', new EventEmitter())
export const screen = strict('screen', { getAllDisplays: () => electronPlay.displays })
export const dialog = strict('dialog', {
  showErrorBox: (title: string, text: string) => void electronState.errorBoxes.push({ title, text }),
  showMessageBoxSync(parent: unknown, options: MessageBoxOptions): number {
    electronState.messageBoxes.push({ hasParent: parent instanceof FakeWindow, options })
    return electronPlay.pressed ?? options.cancelId ?? 0
  },
  showMessageBox(parent: unknown, options: MessageBoxOptions): Promise<{ response: number }> {
    electronState.messageBoxes.push({ hasParent: parent instanceof FakeWindow, options })
    const { signal, cancelId = 0 } = options
    if (electronPlay.pressed !== undefined) return Promise.resolve({ response: electronPlay.pressed })
    return new Promise((resolve) => {
      signal?.addEventListener('abort', () => resolve({ response: cancelId }), { once: true })
    })
  },
})
export const shell = strict('shell', {
  openExternal: async (url: string) => void electronState.openedOutside.push(url),
})
export const Menu = strict('Menu', {
  buildFromTemplate: (template: MenuItemConstructorOptions[]) => template,
  setApplicationMenu: (template: MenuItemConstructorOptions[]) => void electronState.menus.push(template),
})
export const session = strict('session', {
  defaultSession: strict('session.defaultSession', {
    setPermissionRequestHandler(handler: NonNullable<typeof permissions.request>) {
      permissions.request = handler
    },
    setPermissionCheckHandler(handler: NonNullable<typeof permissions.check>) {
      permissions.check = handler
    },
    setDevicePermissionHandler(handler: NonNullable<typeof permissions.device>) {
      permissions.device = handler
    },
  }),
})
export const exposed: Record<string, unknown> = {}
export const contextBridge = strict('contextBridge', {
  exposeInMainWorld(name: string, api: unknown) {
    exposed[name] = api
  },
})
