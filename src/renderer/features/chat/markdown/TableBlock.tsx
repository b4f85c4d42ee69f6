import type { Table } from 'mdast'
import { memo } from 'react'
import { markdownTree } from './markdownTree.ts'
import { drawRow } from './nodes.tsx'
import { PlainText } from './PlainText.tsx'

type TableBlockProps = { head: string; groups: readonly string[]; definitions: string }

/** A table in groups of rows: those that are full are parsed and drawn once, however long it gets. */
export function TableBlock({ head, groups, definitions }: TableBlockProps) {
  const header = tableOf(head, definitions)
  if (!header) return <PlainText text={[head, ...groups].join('\n')} />
  return (
    // Wide tables scroll by themselves, so the keyboard must reach it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section className="table-block" tabIndex={0} aria-label="Table">
      <table>
        <thead>{header.children[0] && drawRow(header.children[0], header.align, 'th', 0)}</thead>
        {groups.map((rows, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: groups never move
          <RowGroup key={index} head={head} rows={rows} definitions={rows.includes('[') ? definitions : ''} />
        ))}
      </table>
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
  const table = tableOf(`${head}\n${rows}`, definitions)
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

function tableOf(text: string, definitions: string): Table | undefined {
  const first = markdownTree(text, definitions)?.children[0]
  return first?.type === 'table' ? first : undefined
}
