import { execFile } from 'node:child_process'
import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { temporaryFolder } from '../fixtures/temporaryFolder.ts'
import { projectFolder } from '../fixtures/testProject.ts'
import { nameOrdinaryUser, ordinaryUid, type User, withIds } from '../processes/runAsUser.ts'

const spaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
/** Creates a `/dev/net/tun` that every user can open, because the existing one may be restricted to root. */
const prepare = (user: User): string =>
  [
    ...(user === withIds ? [nameOrdinaryUser] : []),
    'mount --bind "$1" /mnt',
    'mount --bind "$2" "$3"',
    'shift 3',
    'mkdir -p /dev/net',
    'mount -t tmpfs none /dev/net',
    'mknod /dev/net/tun c 10 200',
    'chmod 666 /dev/net/tun',
    'exec "$@"',
  ].join(' && ')

/** Runs a project script as a user in the namespaces of `world.sh` and parses its output. Needs root. */
export async function runInWorld<T>(script: string, user: User, parts: readonly string[] = []): Promise<T> {
  const folder = temporaryFolder('world')
  const node = join(folder, 'node')
  const runFolder = join(folder, 'own')
  await writeFile(node, '')
  await mkdir(runFolder)
  if (user !== 'root') for (const path of [folder, runFolder]) await chown(path, ordinaryUid, ordinaryUid)
  const uid = String(ordinaryUid)
  const become = user === 'root' ? [] : ['setpriv', '--reuid', uid, '--regid', uid, '--clear-groups']
  const world = [
    'sh',
    '/mnt/test/support/network/world.sh',
    folder,
    node,
    ...become,
    node,
    `/mnt/${script}`,
    runFolder,
    ...parts,
  ]
  const enter = ['sh', '-c', prepare(user), 'sh', projectFolder, process.execPath, node, ...world]
  const { stdout } = await promisify(execFile)('unshare', [...spaces, '--', ...enter], { cwd: '/', timeout: 220_000 })
  return JSON.parse(stdout) as T // the caller specifies the script's output type
}
