import { ExternalLink, ImageOff } from 'lucide-react'
import type { AlignType, Image, Nodes, PhrasingContent, Root, TableRow } from 'mdast'
import { Fragment, type ReactNode } from 'react'
import { escapeHidden, revealHidden } from '#shared/untrustedText.ts'
import { CodeBlock } from '../code/CodeBlock.tsx'
import { Formula } from './Formula.tsx'
import { isDrawnImage, parseSafeLink, type SafeLink } from './safeLink.ts'

/** Maximum nesting of rendered nodes. Deeper markup is omitted. */
const maxDepth = 40

type Drawing = { definitions: ReadonlyMap<string, string>; depth: number }

export function drawTree(tree: Root): ReactNode {
  const definitions = new Map<string, string>()
  for (const node of tree.children) {
    if (node.type === 'definition' && !definitions.has(node.identifier)) definitions.set(node.identifier, node.url)
  }
  return drawAll(tree.children, { definitions, depth: 0 })
}

export function drawRow(row: TableRow, align: readonly AlignType[] | null | undefined, Cell: 'th' | 'td', key: number) {
  return (
    <tr key={key}>
      {row.children.map((cell, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: columns are identified by index
        <Cell key={column} dir="auto" className={alignClass[align?.[column] ?? 'left']}>
          {drawAll(cell.children, { definitions: new Map(), depth: 0 })}
        </Cell>
      ))}
    </tr>
  )
}

const alignClass = { left: 'text-start', center: 'text-center', right: 'text-right' } as const

function drawAll(nodes: readonly Nodes[], drawing: Drawing): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: the tree is rendered as a whole
  return nodes.map((node, index) => <Fragment key={index}>{draw(node, drawing)}</Fragment>)
}

function draw(node: Nodes, drawing: Drawing): ReactNode {
  const { definitions } = drawing
  if (drawing.depth > maxDepth) return toPlainText(node)
  const inner = () =>
    'children' in node ? drawAll(node.children as Nodes[], { definitions, depth: drawing.depth + 1 }) : null
  switch (node.type) {
    case 'text':
      return escapeHidden(node.value)
    case 'paragraph':
      return <p dir="auto">{inner()}</p>
    case 'heading': {
      // One level below the headings of the window.
      const Heading = `h${Math.min(6, node.depth + 2)}` as 'h3' // h3 to h6
      return (
        <Heading dir="auto" data-depth={node.depth}>
          {inner()}
        </Heading>
      )
    }
    case 'emphasis':
      return <em>{inner()}</em>
    case 'strong':
      return <strong>{inner()}</strong>
    case 'delete':
      return <del>{inner()}</del>
    case 'inlineCode':
      return <code dir="ltr">{revealHidden(node.value)}</code>
    case 'code':
      return <CodeBlock code={node.value} language={node.lang ?? ''} closed />
    case 'math':
      return <Formula tex={node.value} display />
    case 'inlineMath':
      return <Formula tex={node.value} display={false} />
    case 'break':
      return <br />
    case 'thematicBreak':
      return <hr />
    case 'blockquote':
      return <blockquote dir="auto">{inner()}</blockquote>
    case 'list':
      return node.ordered ? (
        <ol dir="auto" start={node.start ?? 1}>
          {inner()}
        </ol>
      ) : (
        <ul dir="auto">{inner()}</ul>
      )
    case 'listItem': {
      if (typeof node.checked !== 'boolean') return <li>{renderItemContent(node.children, drawing, node.spread)}</li>
      return (
        <li className="task">
          <input type="checkbox" checked={node.checked} disabled aria-label={node.checked ? 'Done' : 'To do'} />
          {renderItemContent(node.children, drawing, node.spread)}
        </li>
      )
    }
    case 'table':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
        <section className="table-block" tabIndex={0} aria-label="Table">
          <table>
            <thead>{node.children[0] && drawRow(node.children[0], node.align, 'th', 0)}</thead>
            <tbody>{node.children.slice(1).map((row, index) => drawRow(row, node.align, 'td', index))}</tbody>
          </table>
        </section>
      )
    case 'link':
      return renderLink(node.url, node.children, inner())
    case 'linkReference': {
      const url = definitions.get(node.identifier)
      return url === undefined ? inner() : renderLink(url, node.children, inner())
    }
    case 'image':
      return renderImage(node)
    case 'imageReference':
      return renderImage({ url: definitions.get(node.identifier) ?? '', alt: node.alt ?? '' })
    case 'footnoteReference':
      return <sup>[{node.label ?? node.identifier}]</sup>
    case 'footnoteDefinition':
      return (
        <div className="footnote">
          <sup>[{node.label ?? node.identifier}]</sup> {inner()}
        </div>
      )
    case 'html':
      // Models need only line breaks of HTML, in tables. All other HTML is rendered as text.
      return /^<br\s*\/?>$/i.test(node.value.trim()) ? <br /> : node.value
    default:
      return null // definitions and unsupported nodes
  }
}

/** In a tight list, texts are rendered without paragraphs. */
function renderItemContent(
  nodes: readonly Nodes[],
  { definitions, depth }: Drawing,
  spread: boolean | null | undefined,
) {
  const within = { definitions, depth: depth + 1 }
  if (spread) return drawAll(nodes, within)
  return nodes.map((node, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the tree is rendered as a whole
    <Fragment key={index}>
      {node.type === 'paragraph' ? drawAll(node.children, { definitions, depth: depth + 2 }) : draw(node, within)}
    </Fragment>
  ))
}

/**
 * Renders a link. The host is shown beside the link unless the text shows it, because the text may name a different
 * host.
 */
function renderLink(url: string, children: readonly PhrasingContent[], content: ReactNode): ReactNode {
  const link = parseSafeLink(url)
  if (!link) return content
  const text = children.map(toPlainText).join('')
  return (
    <>
      <a href={link.href} target="_blank" rel="noopener noreferrer nofollow" title={link.href}>
        {content}
      </a>
      {!isShowingHost(text.trim(), url, link) && <span className="link-host"> ({link.host})</span>}
    </>
  )
}

/** Whether the text shows the host: the URL itself without anything before its host and without homoglyphs. */
function isShowingHost(text: string, url: string, { href, host }: SafeLink): boolean {
  if (text === href || text === host) return true
  const begins = [`https://${host}`, `http://${host}`].find((value) => text.toLowerCase().startsWith(value))
  return (
    text === url &&
    begins !== undefined &&
    /^[\x21-\x7E]*$/.test(text) &&
    /^(?:[/?#]|$)/.test(text.slice(begins.length))
  )
}

/**
 * Remote images are not loaded, because the request would reveal the reader to their host and may exfiltrate data in
 * the URL.
 */
function renderImage({ url, alt }: Pick<Image, 'url' | 'alt'>): ReactNode {
  if (isDrawnImage(url)) return <img src={url} alt={alt ?? ''} />
  const link = parseSafeLink(url)
  const name = alt || 'Image'
  if (!link) {
    return (
      <span className="image-chip">
        <ImageOff aria-hidden />
        {name}
      </span>
    )
  }
  return (
    <a className="image-chip" href={link.href} target="_blank" rel="noopener noreferrer nofollow" title={link.href}>
      <ExternalLink aria-hidden />
      {name} <span className="link-host">({link.host})</span>
    </a>
  )
}

/** Iterative, because the nesting may be deep. */
function toPlainText(node: Nodes): string {
  const parts: string[] = []
  const left: Nodes[] = [node]
  for (let next = left.pop(); next; next = left.pop()) {
    if ('value' in next) parts.push(next.value)
    else if ('children' in next) left.push(...[...(next.children as Nodes[])].reverse())
  }
  return parts.join('')
}
