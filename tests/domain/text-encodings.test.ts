import { randomBytes } from "node:crypto"
import { describe, expect, it } from "vitest"
import { decodeText, detectEncoding } from "#server/files/text-contract.ts"
import { detectType } from "#server/files/types.ts"

const german = "Name;Straße;Preis\r\nMüller;Königsallee;12,50 €\r\n"
const japanese = "これは日本語の文字列です。"
const utf16 = Buffer.from(german, "utf16le")
const inShiftJis = Buffer.from("82b182ea82cd93fa967b8cea82cc95b68e9a97f182c582b78142", "hex")
/** All of its characters but the sign of the euro are Latin-1. */
const in1252 = Buffer.from(german.replace("€", "\x80"), "latin1")

describe("a text", () => {
  it.each([
    ["UTF-8", Buffer.from(german), german, "utf-8"],
    ["UTF-8 with a mark", Buffer.from(`\uFEFF${german}`), german, "utf-8"],
    ["UTF-16 as Excel writes it", Buffer.from(`\uFEFF${german}`, "utf16le"), german, "utf-16le"],
    ["UTF-16 big-endian", Buffer.from(`\uFEFF${german}`, "utf16le").swap16(), german, "utf-16be"],
    ["UTF-16 without a mark", utf16, german, "utf-16le"],
    ["UTF-16 big-endian without a mark", Buffer.from(utf16).swap16(), german, "utf-16be"],
    ["Windows-1252", in1252, german, "windows-1252"],
    ["a few letters of Windows-1252", Buffer.from("Gr\xFC\xDFe", "latin1"), "Grüße", "windows-1252"],
    ["Shift_JIS", inShiftJis, japanese, "shift_jis"],
    [
      "KOI8-R",
      Buffer.from("f0d2c9d7c5d42c20cdc9d22120fcd4cf20d4c5d3d4", "hex"),
      "Привет, мир! Это тест",
      "koi8-r",
    ],
    [
      "GBK",
      Buffer.from("d6d0b9facac7d2bbb8f6b4f3b9faa3acd5e2cac7b2e2cad4", "hex"),
      "中国是一个大国，这是测试",
      "gb18030",
    ],
    [
      "EUC-KR, sentences",
      Buffer.from(
        "tOvH0bnOsbnAxyC89rW1tMIgvK2/78DMtNkuIMfRsbm+7rTCIMfRud21tb/NIMHWuq8gwfa/qr+hvK0gu+e/67XHtMIgvvC+7sDMuOcsIL7gIDjDtbi4ILjtwMwgvrKw7SDA1rTZLg==",
        "base64",
      ),
      "대한민국의 수도는 서울이다. 한국어는 한반도와 주변 지역에서 사용되는 언어이며, 약 8천만 명이 쓰고 있다.",
      "euc-kr",
    ],
    [
      "EUC-KR, a table",
      Buffer.from(
        "wMy4pyzB1rzSLLChsN0KsejDtrz2LLytv+/Gr7qwvcMgsK2zsrG4LDEyMDAwCsDMv7XI8Sy6zrvqsaS/qr3DIMfYv+6067G4LDg1MDAK",
        "base64",
      ),
      "이름,주소,가격\n김철수,서울특별시 강남구,12000\n이영희,부산광역시 해운대구,8500\n",
      "euc-kr",
    ],
    [
      "Big5, sentences",
      Buffer.from(
        "u0/GV6bsqfOqRqjIoUGsT6RArdOs/MRSqrquccCsoUOktaTRqrq3fMSzsU6p86RVpMikVMJJtn2pbKFBvdCoxqX9vlzFqrjqrsahQw==",
        "base64",
      ),
      "臺灣位於東亞，是一個美麗的島嶼。今天的會議將於下午三點開始，請事先閱讀資料。",
      "big5",
    ],
    [
      "Big5, a table",
      Buffer.from(
        "qW2mVyymYad9LLv5ruYKpP2kcKn6LLtPpV+lq6RqpnewzywxMjAwMAqzr6z8xFIssKq2r6WrparA57DPLDg1MDAK",
        "base64",
      ),
      "姓名,地址,價格\n王小明,臺北市大安區,12000\n陳美麗,高雄市左營區,8500\n",
      "big5",
    ],
    [
      "GB18030",
      Buffer.from(
        "vfHM7LXEu+HS6b2r09rPws7nyP2147+qyryjrMfrysLPyNTEtsHXysHPoaPO0sPHu+HM1sLbw/fE6rXEvMa7rrrN1KTL46Gj",
        "base64",
      ),
      "今天的会议将于下午三点开始，请事先阅读资料。我们会讨论明年的计划和预算。",
      "gb18030",
    ],
    [
      "EUC-JP",
      Buffer.from(
        "uqPG/KTOsvG1xKTPuOG45buwu/6ky7vPpN6k6qTepLmho7vxzsGk8rv2wbCky8bJpPOkx6SvpMCktaSkoaM=",
        "base64",
      ),
      "今日の会議は午後三時に始まります。資料を事前に読んでください。",
      "euc-jp",
    ],
  ])("in %s is text, and is read", async (_name, bytes, text, encoding) => {
    expect(detectEncoding(bytes)).toBe(encoding)
    expect(decodeText(bytes)).toBe(text)
    expect(await detectType(bytes, "table.csv")).toBe("text/csv")
    expect(await detectType(bytes, "notes")).toBe("text/plain")
  })

  it("in Windows-1252 that begins with much ASCII is read", () => {
    const bytes = Buffer.concat([Buffer.alloc(10_000, "all plain. "), in1252])
    expect(decodeText(bytes).endsWith(german)).toBe(true)
  })

  it("may end within a character", () => {
    expect(decodeText(Buffer.from("aü").subarray(0, 2))).toBe("a")
    expect(decodeText(utf16.subarray(0, 7))).toBe("Nam")
  })
})

it.each([
  ["zeros", Buffer.alloc(100)],
  ["a few control characters", Buffer.from([1, 2, 3, 0, 255])],
  ["little-endian numbers", Buffer.from(new Uint16Array([1, 2, 3, 4, 500]).buffer)],
  ["what is only marked as UTF-16", Buffer.from([0xff, 0xfe, 1, 0, 2, 0])],
  ["noise", randomBytes(4000)],
])("no text: %s", (_name, bytes) => {
  expect(detectEncoding(bytes)).toBeNull()
})
