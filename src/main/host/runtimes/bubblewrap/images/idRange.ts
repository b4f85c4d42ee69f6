import { readFile } from 'node:fs/promises'
import { type UserInfo, userInfo } from 'node:os'
import { findExecutable } from '../hostTools.ts'

/** Users and groups of a machine with an image: the number that Debian and most images assume. */
export const idsOfImage = 65_536

/**
 * The users and groups that the files of images belong to on this machine, as lines of uid_map(5) and gid_map(5).
 * As root, images keep the ids that they came with; an ordinary user has a range from the administrator.
 */
export type IdRange = {
  uids: string
  gids: string
  /** The user of this computer that 1 is in the range, and those after it; undefined as root, where all are as they are. */
  firstUid: number | undefined
  /** Programs that may write these maps for an ordinary user; undefined as root. */
  mappers: { newuidmap: string; newgidmap: string } | undefined
}

/** @returns the number in the range of a user of this computer; undefined if it has none */
export function toNumberInRange({ firstUid }: Pick<IdRange, 'firstUid'>, uid: number): number | undefined {
  if (firstUid === undefined) return uid
  if (uid === process.getuid?.()) return 0
  const number = uid - firstUid + 1
  return number >= 1 && number < idsOfImage ? number : undefined
}

/** @returns one sentence about what is missing, and how to get it, when there is no range */
export async function findIdRange(): Promise<IdRange | string> {
  if (process.getuid?.() === 0) {
    const mapping = `0 0 ${idsOfImage}`
    return { uids: mapping, gids: mapping, firstUid: undefined, mappers: undefined }
  }
  const [newuidmap, newgidmap] = await Promise.all(['newuidmap', 'newgidmap'].map((name) => findExecutable(name)))
  if (newuidmap === undefined || newgidmap === undefined) {
    return 'newuidmap and newgidmap are missing. On Debian and Ubuntu: apt-get install uidmap'
  }
  const user = getOwnUser()
  if (!user) return 'This user has no name in /etc/passwd.'
  const { username, uid, gid } = user
  const [uids, gids] = await Promise.all(
    ['/etc/subuid', '/etc/subgid'].map(async (file) => {
      const text = await readFile(file, 'utf8').catch(() => '')
      return findSubordinateRange(text, [username, String(uid)])
    }),
  )
  if (uids === undefined || gids === undefined) {
    return `${username} has no 65536 subordinate ids in /etc/subuid and /etc/subgid. As root: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 ${username}`
  }
  const others = idsOfImage - 1
  return {
    uids: `0 ${uid} 1 1 ${uids} ${others}`,
    gids: `0 ${gid} 1 1 ${gids} ${others}`,
    firstUid: uids,
    mappers: { newuidmap, newgidmap },
  }
}

function getOwnUser(): UserInfo<string> | undefined {
  try {
    return userInfo()
  } catch {
    return undefined // there are users with a number only
  }
}

/**
 * The first range in a file of subuid(5) that is large enough.
 * @returns its first id
 */
export function findSubordinateRange(text: string, names: readonly string[]): number | undefined {
  for (const line of text.split('\n')) {
    const [name = '', first = '', count = ''] = line.trim().split(':')
    if (names.includes(name) && /^\d+$/.test(first) && Number(count) >= idsOfImage - 1) return Number(first)
  }
  return undefined
}
