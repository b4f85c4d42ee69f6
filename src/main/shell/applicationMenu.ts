import { Menu, type MenuItemConstructorOptions, shell } from 'electron'

/**
 * Sets the application menu. Terminals need the plain Ctrl keys (Ctrl-R, Ctrl-W, Ctrl-M, Ctrl-Q). On macOS the menu
 * uses Cmd. Elsewhere conflicting accelerators add Shift or are omitted.
 */
export function setApplicationMenu(origin: string, platform: NodeJS.Platform): void {
  Menu.setApplicationMenu(
    Menu.buildFromTemplate(platform === 'darwin' ? createMacMenu(origin) : createPlainMenu(origin)),
  )
}

function createPlainMenu(origin: string): MenuItemConstructorOptions[] {
  return [
    {
      label: '&File',
      submenu: [
        { role: 'close', accelerator: 'Ctrl+Shift+W' },
        { type: 'separator' },
        { role: 'quit', accelerator: 'Ctrl+Shift+Q' },
      ],
    },
    { role: 'editMenu' },
    viewMenu('Ctrl+Shift+R'),
    createHelpMenu(origin),
  ]
}

function createMacMenu(origin: string): MenuItemConstructorOptions[] {
  return [{ role: 'appMenu' }, { role: 'editMenu' }, viewMenu('Cmd+R'), { role: 'windowMenu' }, createHelpMenu(origin)]
}

function viewMenu(reload: string): MenuItemConstructorOptions {
  return {
    label: '&View',
    submenu: [
      { role: 'reload', accelerator: reload },
      { role: 'toggleDevTools' },
      { type: 'separator' },
      { role: 'resetZoom' },
      { role: 'zoomIn' },
      { role: 'zoomOut' },
      { type: 'separator' },
      { role: 'togglefullscreen' },
    ],
  }
}

function createHelpMenu(origin: string): MenuItemConstructorOptions {
  return {
    role: 'help',
    submenu: [{ label: 'API documentation', click: () => void shell.openExternal(`${origin}/docs`) }],
  }
}
