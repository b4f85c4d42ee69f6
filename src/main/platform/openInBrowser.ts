import { spawn } from 'node:child_process'

type Environment = Readonly<Record<string, string | undefined>>

/** Opens an address in the default browser, where there is one; the address was printed besides. */
export async function openInBrowser(url: string, environment: Environment): Promise<void> {
  const opener = openerOf(process.platform, environment)
  if (!opener) return
  const [command, ...parts] = opener
  await new Promise<void>((resolve) => {
    const child = spawn(command, [...parts, url], { stdio: 'ignore', detached: true, windowsHide: true })
    child.once('error', () => resolve()) // no such program: the person has the printed address
    child.once('spawn', () => {
      child.unref()
      resolve()
    })
  })
}

export function openerOf(
  platform: NodeJS.Platform,
  environment: Environment,
): readonly [string, ...string[]] | undefined {
  if (platform === 'darwin') return ['open']
  // `start` would need the address quoted for cmd.exe; this takes it as it is.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return hasDisplay(environment) ? ['xdg-open'] : undefined
}

/** Whether programs of this session can show a window: asked on Linux and the like only. */
export function hasDisplay(environment: Environment): boolean {
  return Boolean(environment.DISPLAY) || Boolean(environment.WAYLAND_DISPLAY)
}
