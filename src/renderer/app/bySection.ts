import type { Command } from '../ui/commands/commandRegistry.tsx'

/** What belongs to the present screen first; what the window itself does last. */
export function bySection(commands: readonly Command[]): [section: string, members: Command[]][] {
  const sections = [...Map.groupBy(commands, ({ section }) => section)]
  return sections.sort(([one], [other]) => Number(one === 'Window') - Number(other === 'Window'))
}
