import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from './temporaryFolder.ts'

export const projectFolder = new URL('../..', import.meta.url).pathname

const settings = [
  '.dependency-cruiser.cjs',
  'biome.json',
  'package.json',
  'tsconfig.base.json',
  'tsconfig.main.json',
  'tsconfig.shared.json',
]

/** Creates a small project of these files with this project's settings and packages. */
export function createPlantedTree(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder('planted')
  for (const name of settings) cpSync(join(projectFolder, name), join(folder, name))
  symlinkSync(join(projectFolder, 'node_modules'), join(folder, 'node_modules'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}
