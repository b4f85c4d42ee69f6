import { readFile } from 'node:fs/promises'
import { type UserInfo, userInfo } from 'node:os'
import { findExecutable } from '../hostTools.ts'

/** Number of users and groups in a sandbox with an image, as Debian and most images assume. */
export const idsPerImage = 65_536

/**
 * Users and groups that own the files of images on this computer, as lines of uid_map(5) and gid_map(5). Root preserves
 * the original ids of images. An ordinary user has a range assigned by the administrator.
 */
export type IdRange = {
  uids: string
  gids: string
  /**
   * Host uid of uid 1 in the range; the following uids are consecutive. Undefined for root, where ids are not mapped.
   */
  firstUid: number | undefined
  /** Programs that may write these maps for an ordinary user. Undefined for root. */
  mappers: { newuidmap: string; newgidmap: string } | undefined
}

/** @returns the uid within the range for a uid of this computer, or undefined if the range does not contain it */
export function toNumberInRange({ firstUid }: Pick<IdRange, 'firstUid'>, uid: number): number | undefined {
  if (firstUid === undefined) return uid
  if (uid === process.getuid?.()) return 0
  const number = uid - firstUid + 1
  return number >= 1 && number < idsPerImage ? number : undefined
}

/** @returns the range, or a sentence with the missing requirement and how to install it */
export async function findIdRange(): Promise<IdRange | string> {
  if (process.getuid?.() === 0) {
    const mapping = `0 0 ${idsPerImage}`
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
    return `${username} does not have 65536 subordinate ids in /etc/subuid and /etc/subgid. As root: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 ${username}`
  }
  const others = idsPerImage - 1
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
    return undefined // users without a passwd entry
  }
}

/** Finds the first sufficiently large range in a file of subuid(5). @returns its first id */
export function findSubordinateRange(text: string, names: readonly string[]): number | undefined {
  for (const line of text.split('\n')) {
    const [name = '', first = '', count = ''] = line.trim().split(':')
    if (names.includes(name) && /^\d+$/.test(first) && Number(count) >= idsPerImage - 1) return Number(first)
  }
  return undefined
}
