import { printedAs, type User } from '../asUser.ts'
import { temporaryFolder } from '../temporaryFolder.ts'
import type * as attempts from './attempts.ts'
import type { StageOptions } from './stage.ts'
import type * as variations from './variations.ts'

type Attempts = typeof attempts & typeof variations
type Seen<Name extends keyof Attempts> = Awaited<ReturnType<Attempts[Name]>>

/** Why attacks cannot be tried here; undefined when they can: they set the registers of one architecture. */
export const attackFault = process.arch === 'x64' ? undefined : `the attacks are written for x64, not ${process.arch}`

type AttackOptions = StageOptions & { user: User; through?: readonly string[] }

/** Tries an attack in a process of its own, as that user. */
export function attack<Name extends keyof Attempts>(name: Name, options: AttackOptions): Promise<Seen<Name>> {
  const { user, through, ...stage } = options
  const folder = temporaryFolder('attack')
  return printedAs<Seen<Name>>({
    script: 'test/support/attacks/run.ts',
    parts: [folder, name, JSON.stringify(stage)],
    folder,
    user,
    ...(through && { through }),
  })
}
