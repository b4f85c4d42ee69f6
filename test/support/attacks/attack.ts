import { temporaryFolder } from '../fixtures/temporaryFolder.ts'
import { runAndParse, type User } from '../processes/runAsUser.ts'
import type * as attempts from './attempts.ts'
import type { StageOptions } from './stage.ts'
import type * as variations from './variations.ts'

type Attempts = typeof attempts & typeof variations
type Observation<Name extends keyof Attempts> = Awaited<ReturnType<Attempts[Name]>>

/** Reason why the attacks cannot run here, or undefined. They set the registers of a specific architecture. */
export const attackFault = process.arch === 'x64' ? undefined : `the attacks are written for x64, not ${process.arch}`

type AttackOptions = StageOptions & { user: User; through?: readonly string[] }
type Outcome = { seen: unknown } | { failed: string }

/** Runs an attack in a separate process as the given user. */
export function attack<Name extends keyof Attempts>(name: Name, options: AttackOptions): Promise<Observation<Name>> {
  return attacks([name], options)(name)
}

/**
 * Runs several attacks sequentially in one process, each on a new stage, because starting Node.js costs more than most
 * attacks.
 * @returns a function that returns the observation of one attack. Its first call starts all of them
 */
export function attacks<Name extends keyof Attempts>(
  names: readonly Name[],
  { user, through, ...stage }: AttackOptions,
): <One extends Name>(name: One) => Promise<Observation<One>> {
  let running: Promise<Outcome[]> | undefined
  const run = () => {
    const folder = temporaryFolder('attack')
    return runAndParse<Outcome[]>({
      script: 'test/support/attacks/run.ts',
      parts: [folder, JSON.stringify(names), JSON.stringify(stage)],
      folder,
      user,
      ...(through && { through }),
    })
  }
  return async <One extends Name>(name: One): Promise<Observation<One>> => {
    running ??= run()
    const outcome = (await running)[names.indexOf(name)]
    if (!outcome || 'failed' in outcome) throw new Error(`${name}: ${outcome?.failed ?? 'it was not tried'}`)
    return outcome.seen as Observation<One> // shape defined by attempts.ts and variations.ts
  }
}
