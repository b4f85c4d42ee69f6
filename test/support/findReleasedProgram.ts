import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from './plantedTree.ts'
import { temporaryFolder } from './temporaryFolder.ts'

/** Program of the last release, from the Git history of this clone. */
export type ReleasedProgram = { folder: string; commit: string }

/** Returns the released program, or the reason why the history does not contain it: a shallow clone, or no Git. */
export function findReleasedProgram(): ReleasedProgram | string {
  const { commit } = JSON.parse(readFileSync(join(projectFolder, 'test/support/releasedContract.json'), 'utf8')) as {
    commit: string
  }
  const folder = temporaryFolder('released')
  try {
    const tar = execFileSync('git', ['archive', commit, 'src', 'resources', 'package.json'], {
      cwd: projectFolder,
      maxBuffer: 256 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    execFileSync('tar', ['x', '-C', folder], { input: tar })
  } catch {
    return `This clone has no commit ${commit.slice(0, 12)}: run git fetch --unshallow to compare with the last version.`
  }
  symlinkSync(join(projectFolder, 'node_modules'), join(folder, 'node_modules'))
  return { folder, commit }
}
