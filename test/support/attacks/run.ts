import {
  allTerminals,
  fullMemoryFolders,
  keyrings,
  ownerOfHostFile,
  preloadInPid1,
  processesOfPid1,
  systemCallsOfPid1,
} from './attempts.ts'
import { attackStage } from './stage.ts'
import { hostileSnapshot, leftToTheNext, swappedFolders } from './variations.ts'

/** Tries one attack as whoever runs it, and prints what came of it as JSON. Arguments: folder, attack, layers. */
const attacks = {
  allTerminals,
  fullMemoryFolders,
  hostileSnapshot,
  keyrings,
  leftToTheNext,
  ownerOfHostFile,
  preloadInPid1,
  processesOfPid1,
  swappedFolders,
  systemCallsOfPid1,
}
const [folder = '', name = '', layers] = process.argv.slice(2)
const attack = attacks[name as keyof typeof attacks] // undefined when nobody knows it
const stage = attackStage({ folder, layers: layers?.split(',') })
try {
  process.stdout.write(JSON.stringify(await attack(stage)))
} finally {
  await stage.close()
}
