import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import * as attempts from './attempts.ts'
import { attackStage, type Stage, type StageOptions } from './stage.ts'
import * as variations from './variations.ts'

/**
 * Runs attacks sequentially as the current user, each on a new stage. Prints a JSON list of `{seen}` or `{failed}`.
 * Arguments: folder, attack names as JSON, and stage options as JSON.
 */
const attacks: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = { ...attempts, ...variations }
const [folder = '', names = '[]', options = '{}'] = process.argv.slice(2)
const outcomes: ({ seen: unknown } | { failed: string })[] = []
for (const name of JSON.parse(names) as string[] /* passed by attack.ts */) {
  const runFolder = join(folder, name)
  mkdirSync(runFolder)
  outcomes.push(await runAttack(name, attackStage(runFolder, JSON.parse(options) as StageOptions)))
}
process.stdout.write(JSON.stringify(outcomes))

async function runAttack(name: string, stage: Stage): Promise<{ seen: unknown } | { failed: string }> {
  const attack = attacks[name]
  if (!attack) throw new Error(`There is no attack "${name}".`)
  try {
    return { seen: await attack(stage) }
  } catch (error) {
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  } finally {
    await stage.close()
  }
}
