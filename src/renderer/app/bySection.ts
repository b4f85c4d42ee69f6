/** Sorts entries of the present section first, those of the window itself last. */
export function groupBySection<Listed extends { section: string }>(
  commands: readonly Listed[],
): [section: string, members: Listed[]][] {
  const sections = [...Map.groupBy(commands, ({ section }) => section)]
  return sections.sort(([one], [other]) => Number(one === 'Window') - Number(other === 'Window'))
}
