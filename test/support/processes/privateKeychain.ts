import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../assertions/eventually.ts'
import { endProcess, listProcesses } from '../assertions/processes.ts'
import { temporaryFolder } from '../fixtures/temporaryFolder.ts'

/** Behavior of the dialog for unlocking the keyring: it cannot be shown, or it stays open without a response. */
export type Prompt = 'refused' | 'unanswered'

export type PrivateKeychain = {
  /** Address of the bus. Set in the environment before the process first opens a keychain. */
  address: string
  /** Locks the keyring, as after the start of a new session without its password. */
  lock(prompt: Prompt): Promise<void>
  unlock(): Promise<void>
  /** Suspends replies until `letGo`, which also releases queued ones. */
  hold(): void
  letGo(): void
  close(): Promise<void>
}

/** Starts a GNOME Keyring with an unlocked keyring, on a D-Bus that is isolated from the session. */
export async function createPrivateKeychain(): Promise<PrivateKeychain> {
  const folder = temporaryFolder('keychain')
  const inside = (name: string) => join(folder, name)
  for (const name of ['services', 'data', 'run', 'config', 'cache']) mkdirSync(inside(name), { mode: 0o700 })
  const address = `unix:path=${inside('bus')}`
  const environment = {
    ...process.env,
    HOME: folder,
    XDG_DATA_HOME: inside('data'),
    XDG_RUNTIME_DIR: inside('run'),
    XDG_CONFIG_HOME: inside('config'),
    XDG_CACHE_HOME: inside('cache'),
    DBUS_SESSION_BUS_ADDRESS: address,
  }
  writeFileSync(inside('bus.conf'), busConfiguration(address, inside('services')))
  writeFileSync(inside('services/prompter.service'), service(inside('prompter')))
  const setPrompt = (prompt: Prompt): void =>
    writeFileSync(inside('prompter'), `#!/bin/sh\n${prompt === 'refused' ? 'exit 1' : 'exec sleep 600'}\n`, {
      mode: 0o700,
    })
  setPrompt('refused')
  const start = (command: string, parts: readonly string[], said: string): ChildProcess => {
    const child = spawn(command, parts, { env: environment, stdio: ['pipe', 'ignore', 'ignore'] })
    child.stdin?.on('error', () => {}) // the process may exit before it reads
    child.stdin?.end(said)
    return child
  }
  const bus = start('dbus-daemon', ['--nofork', `--config-file=${inside('bus.conf')}`], '')
  await until('the bus listens', () => existsSync(inside('bus')))
  const startKeyring = async (parts: readonly string[]): Promise<ChildProcess> => {
    const child = start('gnome-keyring-daemon', ['--foreground', '--components=secrets', ...parts], '\n')
    await until('the keyring answers', () => answers(environment))
    return child
  }
  let keyring = await startKeyring(['--unlock'])

  return {
    address,
    async lock(prompt) {
      setPrompt(prompt)
      await waitForEnd(keyring)
      keyring = await startKeyring([])
    },
    async unlock() {
      await waitForEnd(keyring)
      keyring = await startKeyring(['--unlock'])
    },
    hold: () => void keyring.kill('SIGSTOP'),
    letGo: () => void keyring.kill('SIGCONT'),
    async close() {
      keyring.kill('SIGCONT')
      await waitForEnd(keyring)
      await waitForEnd(bus)
      // Dialogs outlive the bus that started them, including one that is just starting.
      await until('the dialogs to end', () => {
        const remaining = listProcesses().filter((it) => it.environment.includes(`HOME=${folder}`))
        for (const { pid } of remaining) endProcess(pid)
        return remaining.length === 0
      })
    },
  }
}

function answers(env: NodeJS.ProcessEnv): Promise<boolean> {
  const parts = ['--session', '--print-reply', '--dest=org.freedesktop.DBus', '/', 'org.freedesktop.DBus.NameHasOwner']
  const child = spawn('dbus-send', [...parts, 'string:org.freedesktop.secrets'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let said = ''
  child.stdout.on('data', (bytes: Buffer) => {
    said += bytes.toString()
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve(said.includes('boolean true')))
  })
}

async function waitForEnd(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await exited
}

function busConfiguration(address: string, services: string): string {
  return `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>${address}</listen>
  <auth>EXTERNAL</auth>
  <servicedir>${services}</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`
}

function service(program: string): string {
  return `[D-BUS Service]\nName=org.gnome.keyring.SystemPrompter\nExec=${program}\n`
}
