import { memo, useMemo } from 'react'
import { CodeBlock } from '../code/CodeBlock.tsx'
import { type Block, splitBlocks } from './blocks.ts'
import { closeMarks } from './closeMarks.ts'
import { Formula } from './Formula.tsx'
import { isPlainParagraph, parseMarkdown } from './markdownTree.ts'
import { drawTree } from './nodes.tsx'
import { PlainText } from './PlainText.tsx'
import { TableBlock } from './TableBlock.tsx'

type MarkdownTextProps = {
  text: string
  /** Whether more text will follow, so that the last block is open. */
  streaming: boolean
}

/** Markdown of a model. Nothing in it is executed, loaded or styled. Unsupported syntax is shown as text. */
export const MarkdownText = memo(function MarkdownText({ text, streaming }: MarkdownTextProps) {
  const { blocks, definitions } = useMemo(() => splitBlocks(text), [text])
  return (
    <div className="markdown">
      {blocks.map((block, index) => (
        // Blocks never move: only the last one changes, and new ones are appended.
        <BlockView
          // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no id and keep their order
          key={index}
          block={block}
          definitions={definitions}
          open={streaming && index === blocks.length - 1}
        />
      ))}
    </div>
  )
})

type BlockViewProps = { block: Block; definitions: string; open: boolean }

function BlockView({ block, definitions, open }: BlockViewProps) {
  switch (block.kind) {
    case 'code':
      return <CodeBlock code={block.code} language={block.language} closed={block.closed || !open} />
    case 'math':
      return open && !block.closed ? <PlainText text={block.tex} /> : <Formula tex={block.tex} display />
    case 'table':
      return <TableBlock head={block.head} groups={block.groups} definitions={definitions} />
    case 'text':
      return (
        <TextBlock
          text={open ? closeMarks(block.text) : block.text}
          definitions={block.text.includes('[') ? definitions : ''}
        />
      )
  }
}

const TextBlock = memo(function TextBlock({ text, definitions }: { text: string; definitions: string }) {
  if (isPlainParagraph(text)) return <p dir="auto">{text}</p>
  const tree = parseMarkdown(text, definitions)
  return tree ? drawTree(tree) : <PlainText text={text} />
})
