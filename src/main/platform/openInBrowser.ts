import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

type Environment = Readonly<Record<string, string | undefined>>

/** Temporary page that redirects the browser to Steward. */
export type OpeningPage = {
  /** Removes the page, once its URL was used or Steward exits. */
  remove(): Promise<void>
}

/**
 * Opens an address that holds a secret in the default browser, where there is one; the address was printed besides.
 * All users of a machine can read the arguments of a program, so these name a page that leads to the address and that
 * the person alone can read.
 */
export async function openInBrowser(url: string, environment: Environment): Promise<OpeningPage> {
  const opener = findOpener(process.platform, environment)
  if (!opener) return nothing
  // Windows shows the arguments of a program to its own user alone.
  if (process.platform === 'win32') {
    await run(opener, url, environment)
    return nothing
  }
  const page = await writePage(url, environment.HOME || homedir())
  if (!page) return nothing
  await run(opener, page.url, environment)
  return page
}

export function findOpener(
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

const nothing: OpeningPage = { remove: async () => {} }

/** Browsers that come as a snap read nothing outside the home folder, and nothing hidden in it. */
async function writePage(url: string, home: string): Promise<(OpeningPage & { url: string }) | undefined> {
  let folder: string
  try {
    folder = await mkdtemp(join(home, 'steward-opens-')) // mode 0700
  } catch {
    return undefined // the person has the printed address
  }
  // A page that cannot be removed is harmless: its URL was used, or ended with this process.
  const remove = () => rm(folder, { recursive: true, force: true }).catch(() => {})
  const file = join(folder, 'steward.html')
  try {
    await writeFile(file, renderLinkPage(url), { mode: 0o600, flag: 'wx' })
  } catch {
    await remove()
    return undefined
  }
  return { url: pathToFileURL(file).href, remove }
}

/** @param url of our own making: it needs no escaping */
function renderLinkPage(url: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${url}">
<title>Steward</title>
<p>Steward opens. If it does not, <a href="${url}">go on</a>.
`
}

function run(
  [command, ...parts]: readonly [string, ...string[]],
  subject: string,
  environment: Environment,
): Promise<void> {
  return new Promise<void>((resolve) => {
    const options = { env: { ...environment }, stdio: 'ignore', detached: true, windowsHide: true } as const
    const child = spawn(command, [...parts, subject], options)
    child.once('error', () => resolve()) // no such program: the person has the printed address
    child.once('spawn', () => {
      child.unref()
      resolve()
    })
  })
}
