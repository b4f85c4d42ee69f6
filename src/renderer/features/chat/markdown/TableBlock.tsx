import type { Table } from 'mdast'
import { memo, useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { parseMarkdown } from './markdownTree.ts'
import { drawRow } from './nodes.tsx'
import { PlainText } from './PlainText.tsx'

type TableBlockProps = { head: string; groups: readonly string[]; definitions: string }

/** Number of cells rendered initially. Rendering this many blocks the window for less than 50 ms. */
const cellsAtOnce = 1_500

/**
 * Table rendered in groups of rows. Full groups are parsed and rendered once, regardless of how long the table gets.
 */
export function TableBlock({ head, groups, definitions }: TableBlockProps) {
  const [cells, setCells] = useState(cellsAtOnce)
  const header = parseTable(head, definitions)
  if (!header) return <PlainText text={[head, ...groups].join('\n')} />
  const [first = ''] = groups
  const cellsOfGroup = countRows(first) * (header.children[0]?.children.length ?? 1)
  const visibleGroups = Math.max(1, Math.floor(cells / Math.max(1, cellsOfGroup)))
  const left = groups.slice(visibleGroups).reduce((sum, rows) => sum + countRows(rows), 0)
  return (
    // Wide tables scroll by themselves, so the keyboard must reach it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
    <section className="table-block" tabIndex={0} aria-label="Table">
      <table>
        <thead>{header.children[0] && drawRow(header.children[0], header.align, 'th', 0)}</thead>
        {groups.slice(0, visibleGroups).map((rows, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: groups keep their order
          <RowGroup key={index} head={head} rows={rows} definitions={rows.includes('[') ? definitions : ''} />
        ))}
      </table>
      {left > 0 && (
        <Button size="small" variant="ghost" className="sticky left-0 mt-1" onClick={() => setCells(cells * 2)}>
          Show more rows ({left.toLocaleString('en')} left)
        </Button>
      )}
    </section>
  )
}

const RowGroup = memo(function RowGroup({
  head,
  rows,
  definitions,
}: {
  head: string
  rows: string
  definitions: string
}) {
  const table = parseTable(`${head}\n${rows}`, definitions)
  return (
    <tbody>
      {table ? (
        table.children.slice(1).map((row, index) => drawRow(row, table.align, 'td', index))
      ) : (
        <tr>
          <td>{rows}</td>
        </tr>
      )}
    </tbody>
  )
})

function countRows(rows: string): number {
  return rows.split('\n').length
}

function parseTable(text: string, definitions: string): Table | undefined {
  const first = parseMarkdown(text, definitions)?.children[0]
  return first?.type === 'table' ? first : undefined
}
