/** Groups commands by section in order of appearance, with the section of the window itself last. */
export function groupBySection<Listed extends { section: string }>(
  commands: readonly Listed[],
): [section: string, members: Listed[]][] {
  const sections = [...Map.groupBy(commands, ({ section }) => section)]
  return sections.sort(([one], [other]) => Number(one === 'Window') - Number(other === 'Window'))
}
