import { memo, type ReactNode } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { useTranslations } from 'use-intl'
import { Snippet } from '../../../ui/copy/copy.tsx'
import { linkParts } from './link-parts.ts'
import styles from './markdown.module.css'
import { markdownBlocks } from './markdown-blocks.ts'
import { Picture } from './picture.tsx'
import { isOwnFile } from './reply-files.ts'

/** The last block of a growing text is rendered again with every fragment, which Markdown makes too slow for longer ones. */
const GROWING_CHARACTERS_MAX = 20_000

interface MarkdownProps {
  readonly text: string
  /** While a text grows, a very long list or code at its end is plain text. */
  readonly isGrowing: boolean
}

/**
 * A reply of an agent as Markdown. HTML in it is shown as text, links lead only to web and mail addresses, and images are
 * links unless this gateway has them, because loading them would tell another server who reads the reply.
 */
export default function Markdown({ text, isGrowing }: MarkdownProps) {
  const blocks = markdownBlocks(text)
  const isPlain = (index: number) =>
    isGrowing && index === blocks.length - 1 && (blocks[index] ?? '').length > GROWING_CHARACTERS_MAX
  return (
    <div className={styles.markdown}>
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the blocks of a text that only grows stay in their places.
        <Block key={index} text={block} isPlain={isPlain(index)} />
      ))}
    </div>
  )
}

const PLUGINS = [remarkGfm]

interface BlockProps {
  readonly text: string
  readonly isPlain: boolean
}

/** Rendered again only if its own text has changed. */
const Block = memo(({ text, isPlain }: BlockProps) =>
  isPlain ? (
    <p className={styles.plain}>{text}</p>
  ) : (
    <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  ),
)

interface HtmlNode {
  readonly value?: string
  readonly children?: readonly HtmlNode[]
}

const textOf = ({ value, children = [] }: HtmlNode = {}): string => value ?? children.map(textOf).join('')

/** Headings of a reply are written as paragraphs, since they are no headings of the page. */
const heading = ({ children }: { readonly children?: ReactNode }) => (
  <p className={styles.heading}>{children}</p>
)

const COMPONENTS: Components = {
  h1: heading,
  h2: heading,
  h3: heading,
  h4: heading,
  h5: heading,
  h6: heading,
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  img: ({ src, alt }) => <Image url={String(src ?? '')} name={alt ?? ''} />,
  input: ({ checked }) => <span>{checked === true ? '☑' : '☐'}</span>,
  pre: ({ node }) => <CodeBlock code={textOf(node).replace(/\n$/, '')} />,
  table: ({ children }) => <Table>{children}</Table>,
}

/**
 * A text that is an address leads to that address. Any other text shows where it leads when it is pointed at, and without
 * an address, for example where Markdown does not allow it, only the text is left.
 */
function Link({ href = '', children }: { readonly href?: string | undefined; readonly children: ReactNode }) {
  if (typeof children === 'string' && /^https?:/i.test(children)) return <Addresses text={children} />
  if (!/^(?:https?|mailto):/i.test(href)) return children
  return <OutsideLink href={href}>{children}</OutsideLink>
}

function Image({ url, name }: { readonly url: string; readonly name: string }) {
  return isOwnFile(url, location.origin) ? (
    <Picture url={url} name={name} />
  ) : (
    <Link href={url}>{name === '' ? url : name}</Link>
  )
}

/** Markdown takes the punctuation of Chinese sentences for a part of the address before it. */
function Addresses({ text }: { readonly text: string }) {
  return linkParts(text).map((part, index) =>
    part.href === undefined ? (
      part.text
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of an address do not move.
      <OutsideLink key={index} href={part.href}>
        {part.text}
      </OutsideLink>
    ),
  )
}

function OutsideLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

function CodeBlock({ code }: { readonly code: string }) {
  const t = useTranslations('playground')
  return <Snippet code={code} label={t('code')} />
}

function Table({ children }: { readonly children: ReactNode }) {
  const t = useTranslations('playground')
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a box only if it can have the focus.
    // biome-ignore lint/a11y/useSemanticElements: a region would be a landmark, and a reply may have many tables.
    <div role="group" className={styles.table} aria-label={t('table')} tabIndex={0}>
      <table>{children}</table>
    </div>
  )
}
