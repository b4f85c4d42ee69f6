import * as attempts from './attempts.ts'
import { attackStage, type Stage, type StageOptions } from './stage.ts'
import * as variations from './variations.ts'

/** Tries one attack as whoever runs it, and prints what came of it as JSON. Arguments: folder, attack, and options of the stage as JSON. */
const attacks: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = { ...attempts, ...variations }
const [folder = '', name = '', options = '{}'] = process.argv.slice(2)
const attack = attacks[name]
if (!attack) throw new Error(`There is no attack "${name}".`)
const stage = attackStage(folder, JSON.parse(options) as StageOptions) // of attack.ts
try {
  process.stdout.write(JSON.stringify(await attack(stage)))
} finally {
  await stage.close()
}
