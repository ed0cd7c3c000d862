#include "uv/tls_store.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <variant>

#include "tls_test_server.hpp"

namespace redlock::uv::test {
namespace {

namespace fs = std::filesystem;

class TlsStoreTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { certificates = std::make_unique<Certificates>(); }
  static void TearDownTestSuite() { certificates.reset(); }
  void SetUp() override {
    put("client.pem", files.cert_file);
    put("client.key", files.key_file);
    put("ca.pem", files.ca_file);
    auto made = TlsStore::create(files);
    ASSERT_EQ(made.index(), 0U) << std::get<1>(made);
    store = std::get<0>(std::move(made));
    first = store->current();
  }
  /// Replaces the file at `place`, by a rename.
  void put(const std::string& made, const std::string& place) {
    fs::copy_file(certificates->file(made), directory.file("next"),
                  fs::copy_options::overwrite_existing);
    fs::rename(directory.file("next"), place);
  }

  inline static std::unique_ptr<Certificates> certificates;
  TemporaryDirectory directory;
  const TlsFiles files{directory.file("ca"), directory.file("cert"), directory.file("key")};
  std::shared_ptr<TlsStore> store;
  std::shared_ptr<const TlsContext> first;
};

TEST_F(TlsStoreTest, GivesTheSameContextAsLongAsTheFilesAreTheSame) {
  EXPECT_EQ(store->current(), first);
  EXPECT_EQ(store->take_warning(), "");
}

TEST_F(TlsStoreTest, ReadsFilesThatWereReplaced) {
  put("other-ca.pem", files.ca_file);
  const auto second = store->current();
  EXPECT_NE(second, first);
  EXPECT_EQ(store->current(), second);
  put("server.pem", files.cert_file);
  put("server.key", files.key_file);
  EXPECT_NE(store->current(), second);
  EXPECT_EQ(store->take_warning(), "");
}

TEST_F(TlsStoreTest, KeepsTheFormerContextAndWarnsOnceWhileAFileIsMissing) {
  fs::remove(files.ca_file);
  EXPECT_EQ(store->current(), first);
  EXPECT_EQ(
      store->take_warning(),
      "the TLS files have changed, and the former ones stay in use: cannot load the CA file '" +
          files.ca_file + "': No such file or directory");
  EXPECT_EQ(store->current(), first);
  EXPECT_EQ(store->take_warning(), "");
  put("other-ca.pem", files.ca_file);
  EXPECT_NE(store->current(), first);
  EXPECT_EQ(store->take_warning(), "");
  fs::remove(files.ca_file);
  EXPECT_NE(store->current(), nullptr);
  EXPECT_NE(store->take_warning(), "") << "it is news again";
}

TEST_F(TlsStoreTest, KeepsTheFormerContextWhileCertificateAndKeyDoNotMatch) {
  put("server.pem", files.cert_file);
  EXPECT_EQ(store->current(), first);
  EXPECT_NE(store->take_warning().find("key values mismatch"), std::string::npos);
  put("server.key", files.key_file);
  EXPECT_NE(store->current(), first);
}

TEST_F(TlsStoreTest, IsNotMadeOfFilesThatCannotBeRead) {
  const auto made = TlsStore::create({directory.file("none"), "", ""});
  ASSERT_EQ(made.index(), 1U);
  EXPECT_NE(std::get<1>(made).find("No such file or directory"), std::string::npos);
}

}  // namespace
}  // namespace redlock::uv::test
